// The page: what is shown of which phase, kept in the address so that it can be sent to others.

import { Charts } from "./charts.js";
import { dateAndTime, four, labels, one, percent, signed, whole } from "./columns.js";
import { announce, arrange, byId, element, setAttribute, setText } from "./elements.js";
import { Feed, request, storedKey, storeKey } from "./feed.js";
import { isolated } from "./series.js";
import { Table } from "./table.js";

const MOST = 10; // runs in one comparison: more lines, and their colours, cannot be told apart
const LONG = 20; // rows from which on the table scrolls by itself, under its headings
const FIRST = 4; // ranked runs that are chosen for those who have not chosen

const SECTIONS = ["table-section", "charts-section"]; // what is made of a board, and acts on it

class Page {
  constructor(settings) {
    this.settings = settings;
    this.colours = new Map(); // chosen run: name of its colour
    this.chosenByUser = false;
    this.filter = "";
    this.only = false;
    this.against = null;
    this.sort = { key: "rank", descending: false };
    this.table = new Table({
      onChoose: (run, chosen) => this.choose(run, chosen),
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

  // The phase that the address names, or else the longest that has anything to show.
  async start() {
    const { phases } = this.settings;
    if (!phases.length) return this.showState("none");
    this.readAddress();
    const named = phases.includes(this.phase);
    const [phase, answer] = named ? [this.phase] : await this.mostInteresting(phases);
    const links = phases.map((name) => element("a", { href: `#phase=${encodeURIComponent(name)}` }, name));
    byId("phases").replaceChildren(...links);
    await this.follow(phase, answer);
    await this.charts.load();
  }

  async mostInteresting(phases) {
    for (const phase of [...phases].reverse()) {
      const answer = await request(this.feed.address(phase)).catch(() => null);
      if ((await answer?.clone().json())?.rows.length) return [phase, answer];
    }
    return [phases.at(-1)];
  }

  // the address: #phase=dev&runs=a,b&sort=-reward

  readAddress() {
    const said = new URLSearchParams(location.hash.slice(1));
    const phase = said.get("phase");
    const changed = phase !== null && phase !== this.phase;
    if (phase !== null) this.phase = phase;
    if (said.has("sort")) {
      const sort = said.get("sort");
      this.sort = { key: sort.replace(/^-/, ""), descending: sort.startsWith("-") };
    }
    this.wanted = said.has("runs") ? said.get("runs").split(",").filter(Boolean).map(decodeURIComponent) : null;
    return changed;
  }

  writeAddress() {
    const said = new URLSearchParams({ phase: this.phase, sort: (this.sort.descending ? "-" : "") + this.sort.key });
    if (this.chosenByUser) said.set("runs", [...this.colours.keys()].map(encodeURIComponent).join(","));
    history.replaceState(null, "", `#${said}`);
  }

  follow(phase, answer) {
    this.phase = phase;
    this.board = null;
    for (const id of SECTIONS) byId(id).inert = true; // still of the phase before
    this.notice("");
    this.colours.clear();
    this.chosenByUser = this.wanted !== null;
    for (const link of byId("phases").children) {
      setAttribute(link, "aria-current", link.textContent === phase && "page");
    }
    setAttribute(byId("csv"), "href", this.feed.address(phase, "table"));
    setAttribute(byId("json"), "href", this.feed.address(phase));
    byId("csv").download = `${phase}.csv`;
    byId("json").download = `${phase}.json`;
    byId("key-button").hidden = !this.settings.live;
    return this.feed.follow(phase, answer);
  }

  // data

  receive(board) {
    const before = this.board;
    this.board = board;
    this.chooseFirst();
    this.offerOracles();
    this.show();
    if (before) this.tellNews(before);
  }

  tellNews(before) {
    const statuses = new Map(before.rows.map((row) => [row.run, row.status]));
    const names = labels(this.board.rows);
    for (const row of this.board.rows) {
      if (row.status === "finished" && statuses.has(row.run) && statuses.get(row.run) !== "finished") {
        const rank = row.rank === null ? "" : `, rank ${row.rank}`;
        announce(`${isolated(names.get(row.run))} has finished: mean reward ${four(row.mean_reward)}${rank}.`);
      }
    }
  }

  chooseFirst() {
    const known = new Set(this.board.rows.map((row) => row.run));
    if (this.wanted) {
      for (const run of this.wanted) if (known.has(run)) this.paint(run);
      this.wanted = null;
    }
    for (const run of this.colours.keys()) if (!known.has(run)) this.colours.delete(run);
    if (this.chosenByUser || this.colours.size) return;
    const contestants = this.board.rows.filter((row) => row.role === "contestant").slice(0, FIRST);
    const pinned = this.board.rows.filter((row) => row.role !== "contestant");
    for (const row of [...contestants, ...pinned]) this.paint(row.run);
  }

  offerOracles() {
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

  // choosing

  // Gives a run the first colour that is free.
  paint(run) {
    if (this.colours.size >= MOST) return false;
    const taken = new Set(this.colours.values());
    const free = Array.from({ length: MOST }, (_, place) => `series-${place + 1}`).find((each) => !taken.has(each));
    this.colours.set(run, free);
    return true;
  }

  choose(run, chosen) {
    this.notice("");
    if (!chosen) this.colours.delete(run);
    else if (!this.colours.has(run) && !this.paint(run)) {
      this.notice(`${MOST} runs can be compared at once: take one out before adding another.`);
    }
    this.chosenByUser = true;
    this.change({});
  }

  clear() {
    this.colours.clear();
    this.chosenByUser = true;
    this.change({});
    announce("No runs are chosen.");
  }

  change(changes) {
    Object.assign(this, changes);
    this.writeAddress();
    if (this.board) this.show();
  }

  // showing

  show() {
    const { board } = this;
    const names = labels(board.rows);
    const visible = this.table.show(board, this);
    const rows = new Map(board.rows.map((row) => [row.run, row]));
    const chosen = [...this.colours].map(([run, colour]) => ({ row: rows.get(run), label: names.get(run), colour }));
    this.showSummary(names);
    this.showEmpty(visible);
    this.showChosen(chosen);
    for (const id of SECTIONS) byId(id).inert = false;
    byId("table-section").hidden = false; // before there are data, nothing can be sorted, chosen or saved
    byId("charts-section").hidden = !board.rows.length;
    this.charts.show(board, chosen, this);
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

  // There is no board of this phase: nothing of another one stays beside its name.
  showNothing() {
    for (const id of SECTIONS) byId(id).hidden = true;
    this.showTitle();
    for (const id of ["subtitle", "visibility", "tiles", "signatures"]) byId(id).replaceChildren();
  }

  // What is not shown, and why.
  visibility() {
    const { visible, held_out: heldOut } = this.board;
    if (visible === "own") {
      return storedKey()
        ? "Until this phase is closed, everybody sees only their own runs."
        : "This phase is public when it is closed. Until then, your key shows your own runs.";
    }
    const hidden = heldOut.passes > 0 && !heldOut.ends.length;
    return hidden ? "Which rounds are held out is told when the phase is closed; until then passes are only counted." : "";
  }

  showEmpty(visible) {
    setText(byId("empty"), this.whyEmpty());
    byId("empty").hidden = visible > 0;
    byId("board").hidden = visible === 0;
    byId("board").parentElement.classList.toggle("long", visible > LONG);
  }

  whyEmpty() {
    if (this.board.rows.length) return "No run matches.";
    if (this.board.visible === "all") return "Nobody has played a round yet. Runs appear here as soon as they begin.";
    return storedKey() ? "You have not played a round of this phase yet." : "The runs of this phase are not public yet.";
  }

  showChosen(chosen) {
    const list = byId("chosen");
    const known = new Map([...list.children].map((chip) => [chip.dataset.run, chip]));
    const chips = chosen.map((each) => known.get(each.row.run) ?? this.makeChip(each));
    chosen.forEach(({ row, colour }, place) => {
      setAttribute(chips[place].querySelector(".swatch"), "class", `swatch ${colour} ${row.role}`);
    });
    arrange(list, chips);
    byId("clear").hidden = !chosen.length;
  }

  makeChip({ row, label }) {
    const button = element("button", { type: "button", title: `Take ${label} out` }, element("span", { class: "swatch" }));
    button.append(element("bdi", {}, label), element("span", { "aria-hidden": "true" }, "×"));
    button.append(element("span", { class: "hidden" }, ", take out"));
    button.addEventListener("click", () => this.choose(row.run, false));
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
    const before = status.dataset.state;
    status.dataset.state = state === "live" && !this.settings.live ? "static" : state;
    if (["lost", "refused"].includes(state) && !this.board) this.showNothing();
    if (state === "lost" && before !== "lost") {
      announce(`The server cannot be reached.${this.board ? " What is shown may be old." : ""}`);
    }
    if (state === "live" && before === "lost") announce("The server is back.");
    if (state === "refused") this.refused(failure);
    else if (byId("notice").dataset.failure) this.notice("");
    this.showAge();
  }

  refused(failure) {
    if (failure.status === 403 && storedKey()) {
      this.notice("The server does not know this key. The public view needs none.");
      storeKey(null);
      this.feed.follow(this.phase);
    } else {
      this.notice(failure.message);
      byId("notice").dataset.failure = "yes"; // goes away with the failure
    }
  }

  showAge() {
    const { state } = byId("status").dataset;
    const time = this.board?.updated_at;
    const clock = time ? `data of ${dateAndTime(time)}` : "no data yet";
    const said = { live: `live · ${clock}`, static: clock, lost: `no connection · ${clock}`, refused: "refused", none: "there are no phases yet" }[state];
    setText(byId("status-text"), said ?? "loading");
  }

  // A link carries no key: with one, the file is fetched first.
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
      this.notice(`${download} cannot be fetched now; try again later.`);
    }
  }
}

// What a visitor asks first: who leads, who came closest, who learned most.
function tilesOf(board, names) {
  const contestants = board.rows.filter((row) => row.role === "contestant");
  const most = (value) => {
    const known = contestants.filter((row) => value(row) != null);
    return known.reduce((best, row) => (best === null || value(row) > value(best) ? row : best), null);
  };
  const gain = (row) => (row.passes.length > 1 ? row.passes.at(-1).relative_corpus_bleu : null);
  const leader = contestants.find((row) => row.rank === 1);
  const [closest, learner] = [most((row) => row.gap_closed), most(gain)];
  const underWay = contestants.filter((row) => row.status === "running").length;
  const finished = contestants.filter((row) => row.status === "finished").length;
  return [
    leader && ["Leads", names.get(leader.run), four(leader.mean_reward)],
    closest && ["Closed most of the gap", names.get(closest.run), percent(closest.gap_closed)],
    learner && ["Gained most BLEU", names.get(learner.run), signed(one)(gain(learner))],
    contestants.length && ["Finished", `${underWay} under way`, whole(finished)],
  ].filter(Boolean);
}

// Not by the address, which tells what is shown.
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
      // storage is forbidden: then the choice lasts as long as the page
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
