// The page: which phase is shown, and how. The address holds this state, so that it can be shared.

import { Charts } from "./charts.js";
import { dateAndTime, fourDecimals, isPostEdit, labels, oneDecimal, percentWithDecimal, signed, whole } from "./columns.js";
import { announce, byId, element, setAttribute, setChildren, setText } from "./elements.js";
import { Feed, request, storedKey, storeKey } from "./feed.js";
import { isolated } from "./series.js";
import { Table } from "./table.js";

const MAX_SELECTED = 10; // runs: readers cannot tell more lines and colours apart
const MAX_ROWS = 20; // a longer table scrolls under its headings
const DEFAULT_SELECTED = 4; // contestants that are selected until the visitor selects runs

const SECTIONS = ["table-section", "charts-section"]; // hidden until there is a board

class Page {
  constructor(settings) {
    this.settings = settings;
    this.colours = new Map(); // selected run: name of its colour
    this.selectedByUser = false;
    this.filter = "";
    this.only = false;
    this.against = null;
    this.sort = { key: "rank", descending: false };
    this.table = new Table({
      onSelect: (run, selected) => this.select(run, selected),
      onSort: (sort) => this.change({ sort }),
    });
    this.charts = new Charts();
    this.feed = new Feed(settings, {
      onBoard: (board) => this.receive(board),
      onState: (state, failure) => this.showState(state, failure),
    });
    this.listen();
  }

  listen() {
    byId("filter").addEventListener("input", (event) => this.change({ filter: event.target.value }));
    byId("only").addEventListener("change", (event) => this.change({ only: event.target.checked }));
    byId("against").addEventListener("change", (event) => this.change({ against: event.target.value || null }));
    byId("clear").addEventListener("click", () => this.clear());
    for (const kind of ["csv", "json"]) byId(kind).addEventListener("click", (event) => this.download(event));
    addEventListener("hashchange", () => this.readAddress() && this.follow(this.phase));
    setInterval(() => this.showAge(), 5000);
  }

  // Shows the phase that the address names, or else the longest one with runs.
  async start() {
    const { phases } = this.settings;
    if (!phases.length) return this.showState("none");
    this.readAddress();
    const isNamed = phases.includes(this.phase);
    const [phase, response] = isNamed ? [this.phase] : await this.longestWithRuns(phases);
    const links = phases.map((name) => element("a", { href: `#phase=${encodeURIComponent(name)}` }, name));
    byId("phases").replaceChildren(...links);
    await this.follow(phase, response);
    await this.charts.load();
  }

  async longestWithRuns(phases) {
    for (const phase of [...phases].reverse()) {
      const response = await request(this.feed.address(phase)).catch(() => null);
      if ((await response?.clone().json())?.rows.length) return [phase, response];
    }
    return [phases.at(-1)];
  }

  // The address: #phase=dev&runs=a,b&sort=-reward

  readAddress() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    const phase = parameters.get("phase");
    const changed = phase !== null && phase !== this.phase;
    if (phase !== null) this.phase = phase;
    if (parameters.has("sort")) {
      const sort = parameters.get("sort");
      this.sort = { key: sort.replace(/^-/, ""), descending: sort.startsWith("-") };
    }
    this.requestedRuns = parameters.has("runs") ? parameters.get("runs").split(",").filter(Boolean).map(decodeURIComponent) : null;
    return changed;
  }

  writeAddress() {
    const parameters = new URLSearchParams({ phase: this.phase, sort: (this.sort.descending ? "-" : "") + this.sort.key });
    if (this.selectedByUser) parameters.set("runs", [...this.colours.keys()].map(encodeURIComponent).join(","));
    history.replaceState(null, "", `#${parameters}`);
  }

  follow(phase, response) {
    this.phase = phase;
    this.board = null;
    for (const id of SECTIONS) byId(id).inert = true; // they still show the previous phase
    this.notice("");
    this.colours.clear();
    this.selectedByUser = this.requestedRuns !== null;
    for (const link of byId("phases").children) {
      setAttribute(link, "aria-current", link.textContent === phase && "page");
    }
    setAttribute(byId("csv"), "href", this.feed.address(phase, "table"));
    setAttribute(byId("json"), "href", this.feed.address(phase));
    byId("csv").download = `${phase}.csv`;
    byId("json").download = `${phase}.json`;
    byId("key-button").hidden = !this.settings.live;
    return this.feed.follow(phase, response);
  }

  // Data

  receive(board) {
    const previous = this.board;
    this.board = board;
    this.updateSelection();
    this.updateOracles();
    this.show();
    if (previous) this.announceFinished(previous);
  }

  announceFinished(previous) {
    const statuses = new Map(previous.rows.map((row) => [row.run, row.status]));
    const names = labels(this.board.rows);
    for (const row of this.board.rows) {
      if (row.status === "finished" && statuses.has(row.run) && statuses.get(row.run) !== "finished") {
        const rank = row.rank === null ? "" : `, rank ${row.rank}`;
        announce(`${isolated(names.get(row.run))} has finished: mean reward ${fourDecimals(row.mean_reward)}${rank}.`);
      }
    }
  }

  updateSelection() {
    const known = new Set(this.board.rows.map((row) => row.run));
    if (this.requestedRuns) {
      for (const run of this.requestedRuns) if (known.has(run)) this.assignColour(run);
      this.requestedRuns = null;
    }
    for (const run of this.colours.keys()) if (!known.has(run)) this.colours.delete(run);
    if (this.selectedByUser || this.colours.size) return;
    const contestants = this.board.rows.filter((row) => row.role === "contestant").slice(0, DEFAULT_SELECTED);
    const pinned = this.board.rows.filter((row) => row.role !== "contestant");
    for (const row of [...contestants, ...pinned]) this.assignColour(row.run);
  }

  updateOracles() {
    const names = labels(this.board.rows);
    const oracles = this.board.rows.filter((row) => row.role === "oracle");
    const select = byId("against");
    const wanted = [["", "its family's oracle"], ...oracles.map((row) => [row.run, names.get(row.run)])];
    if (JSON.stringify(wanted) !== JSON.stringify([...select.options].map((each) => [each.value, each.text]))) {
      select.replaceChildren(...wanted.map(([value, text]) => element("option", { value }, text)));
      if (!oracles.some((row) => row.run === this.against)) this.against = null;
      select.value = this.against ?? "";
    }
    byId("against-field").hidden = oracles.length < 2;
  }

  // Selection

  // Selects a run with the first free colour; returns whether there is one.
  assignColour(run) {
    if (this.colours.size >= MAX_SELECTED) return false;
    const taken = new Set(this.colours.values());
    const free = Array.from({ length: MAX_SELECTED }, (_, index) => `series-${index + 1}`).find((each) => !taken.has(each));
    this.colours.set(run, free);
    return true;
  }

  select(run, selected) {
    this.notice("");
    if (!selected) this.colours.delete(run);
    else if (!this.colours.has(run) && !this.assignColour(run)) {
      this.notice(`You can compare up to ${MAX_SELECTED} runs. Remove one before you add another.`);
    }
    this.selectedByUser = true;
    this.change({});
  }

  clear() {
    this.colours.clear();
    this.selectedByUser = true;
    this.change({});
    announce("No runs are selected.");
  }

  change(changes) {
    Object.assign(this, changes);
    this.writeAddress();
    if (this.board) this.show();
  }

  // Display

  show() {
    const { board } = this;
    const names = labels(board.rows);
    const visible = this.table.show(board, this);
    const rows = new Map(board.rows.map((row) => [row.run, row]));
    const selected = [...this.colours].map(([run, colour]) => ({ row: rows.get(run), label: names.get(run), colour }));
    this.showSummary(names);
    this.showEmpty(visible);
    this.showSelected(selected);
    for (const id of SECTIONS) byId(id).inert = false;
    byId("table-section").hidden = false;
    byId("charts-section").hidden = !board.rows.length;
    this.charts.show(board, selected, this);
    this.showAge();
  }

  showSummary(names) {
    const { board } = this;
    this.showTitle();
    const runs = board.rows.length === 1 ? "1 run" : `${whole(board.rows.length)} runs`;
    const passes = board.held_out.passes ? [`${board.held_out.passes} held-out passes`] : [];
    setText(byId("subtitle"), [board.state, `${whole(board.total)} rounds`, ...passes, runs].join(" · "));
    setText(byId("visibility"), this.visibility());
    const tiles = tilesOf(board, names).map(([term, name, value]) =>
      element("div", {}, element("dt", {}, term), element("dd", {}, element("b", {}, value), element("bdi", { title: name }, name))),
    );
    if (byId("tiles").textContent !== tiles.map((tile) => tile.textContent).join("")) byId("tiles").replaceChildren(...tiles);
    const signatures = Object.entries(board.signatures).flatMap(([name, text]) => [
      element("dt", {}, name.replaceAll("_", " ")),
      element("dd", {}, text),
    ]);
    byId("signatures").replaceChildren(...signatures);
  }

  showTitle() {
    document.title = `${this.phase} · Leaderboard`;
    setText(byId("title"), `The ${this.phase} phase`);
  }

  // Shows only the title, if there is no board of this phase: nothing of another phase may stay.
  showNothing() {
    for (const id of SECTIONS) byId(id).hidden = true;
    this.showTitle();
    for (const id of ["subtitle", "visibility", "tiles", "signatures"]) byId(id).replaceChildren();
  }

  // Returns a sentence about what is hidden, and why.
  visibility() {
    const { visible, held_out: heldOut } = this.board;
    if (visible === "own") {
      return storedKey()
        ? "Until this phase closes, participants see only their own runs."
        : "This phase becomes public when it closes. Until then, enter your API key to see your own runs.";
    }
    const hidden = heldOut.passes > 0 && !heldOut.ends.length;
    return hidden ? "The positions of the held-out passes are revealed when the phase closes. Until then, passes are only numbered." : "";
  }

  showEmpty(visible) {
    setText(byId("empty"), this.whyEmpty());
    byId("empty").hidden = visible > 0;
    byId("board").hidden = visible === 0;
    byId("board").parentElement.classList.toggle("long", visible > MAX_ROWS);
  }

  whyEmpty() {
    if (this.board.rows.length) return "No runs match.";
    if (this.board.visible === "all") return "No rounds have been played yet. Runs appear here as soon as they start.";
    return storedKey() ? "You have not played a round of this phase yet." : "The runs of this phase are not public yet.";
  }

  showSelected(selected) {
    const list = byId("selected");
    const known = new Map([...list.children].map((chip) => [chip.dataset.run, chip]));
    const chips = selected.map((each) => known.get(each.row.run) ?? this.makeChip(each));
    selected.forEach(({ row, colour }, index) => {
      setAttribute(chips[index].querySelector(".swatch"), "class", `swatch ${colour} ${row.role}`);
    });
    setChildren(list, chips);
    byId("clear").hidden = !selected.length;
  }

  makeChip({ row, label }) {
    const button = element("button", { type: "button", title: `Remove ${label}` }, element("span", { class: "swatch" }));
    button.append(element("bdi", {}, label), element("span", { "aria-hidden": "true" }, "×"));
    button.append(element("span", { class: "hidden" }, ", remove"));
    button.addEventListener("click", () => this.select(row.run, false));
    const chip = element("li", {}, button);
    chip.dataset.run = row.run;
    return chip;
  }

  notice(text) {
    const notice = byId("notice");
    setText(notice, text);
    notice.hidden = !text;
    delete notice.dataset.failure;
    if (text) announce(text);
  }

  showState(state, failure) {
    const status = byId("status");
    const previous = status.dataset.state;
    status.dataset.state = state === "live" && !this.settings.live ? "static" : state;
    if (["lost", "refused"].includes(state) && !this.board) this.showNothing();
    if (state === "lost" && previous !== "lost") {
      announce(`The server cannot be reached.${this.board ? " The data shown may be out of date." : ""}`);
    }
    if (state === "live" && previous === "lost") announce("The server is back.");
    if (state === "refused") this.showRefusal(failure);
    else if (byId("notice").dataset.failure) this.notice("");
    this.showAge();
  }

  showRefusal(failure) {
    if (failure.status === 403 && storedKey()) {
      this.notice("The server does not accept this API key. You see the public view, which needs no key.");
      storeKey(null);
      this.feed.follow(this.phase);
    } else {
      this.notice(failure.message);
      byId("notice").dataset.failure = "yes"; // cleared by the next success
    }
  }

  showAge() {
    const { state } = byId("status").dataset;
    const time = this.board?.updated_at;
    const age = time ? `data from ${dateAndTime(time)}` : "no data yet";
    const text = { live: `live · ${age}`, static: age, lost: `no connection · ${age}`, refused: "request refused", none: "there are no phases yet" }[state];
    setText(byId("status-text"), text ?? "loading");
  }

  // A link cannot send an API key: with a key, the file is fetched first.
  async download(event) {
    if (!storedKey()) return;
    event.preventDefault();
    this.notice("");
    const { href, download } = event.currentTarget;
    try {
      const address = URL.createObjectURL(await (await request(href)).blob());
      element("a", { href: address, download }).click();
      URL.revokeObjectURL(address);
    } catch {
      this.notice(`${download} cannot be downloaded now. Try again later.`);
    }
  }
}

// Returns the tiles: the leader, who closed most of the gap, who gained most BLEU, and how many have finished.
function tilesOf(board, names) {
  const contestants = board.rows.filter((row) => row.role === "contestant");
  const highest = (value) => {
    const known = contestants.filter((row) => value(row) != null);
    return known.reduce((best, row) => (best === null || value(row) > value(best) ? row : best), null);
  };
  const gain = (row) => (row.passes.length > 1 ? row.passes.at(-1).relative_corpus_bleu : null);
  const leader = contestants.find((row) => row.rank === 1);
  const measured = (name, sign) => (row) => row.measures?.[name] && sign * row.measures[name].value;
  const [recalls, learns] = isPostEdit(board) ? [highest(measured("r0_1", 1)), highest(measured("slope", -1))] : [];
  const [closest, learner] = [highest((row) => row.gap_closed), highest(gain)];
  const running = contestants.filter((row) => row.status === "running").length;
  const finished = contestants.filter((row) => row.status === "finished").length;
  const marked = (title, row) => (row.last_quarter?.difference?.reward_up_bleu_down ? `${title} (reward up, BLEU down)` : title);
  return [
    leader && [marked("Leader", leader), names.get(leader.run), fourDecimals(leader.mean_reward)],
    closest && [marked("Most of the gap closed", closest), names.get(closest.run), percentWithDecimal(closest.gap_closed)],
    learner && ["Largest BLEU gain", names.get(learner.run), signed(oneDecimal)(gain(learner))],
    recalls && ["Highest R0+1", names.get(recalls.run), oneDecimal(recalls.measures.r0_1.value)],
    learns && ["Lowest S (learns fastest)", names.get(learns.run), oneDecimal(learns.measures.slope.value)],
    contestants.length && ["Finished", `${running} running`, whole(finished)],
  ].filter(Boolean);
}

// Moves the focus without changing the address, which holds the state of the page.
function listenToSkip() {
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    const section = byId("table-section");
    byId(section.hidden || section.inert ? "title" : "table-heading").focus();
  });
}

function listenToTheme() {
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const now = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // storage is blocked: the choice lasts until the page is closed
    }
  });
}

function listenToKey(page) {
  const dialog = byId("key-dialog");
  byId("key-button").addEventListener("click", () => {
    byId("key").value = storedKey() ?? "";
    dialog.showModal();
  });
  const use = (key) => {
    storeKey(key);
    dialog.close();
    page.notice("");
    page.feed.follow(page.phase);
  };
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    use(byId("key").value.trim());
  });
  byId("key-forget").addEventListener("click", () => use(""));
  byId("key-cancel").addEventListener("click", () => dialog.close());
}

async function main() {
  listenToSkip();
  listenToTheme();
  const settings = await (await fetch("page.json", { cache: "no-store" })).json();
  const page = new Page(settings);
  listenToKey(page);
  await page.start();
}

main().catch((failure) => {
  console.error(failure);
  setText(byId("status-text"), "the page cannot be loaded now; try again later");
  byId("status").dataset.state = "lost";
});
