// The page: which phase is shown, and how. The address holds this state, so that it can be shared.

import { Charts } from "./charts.js";
import { dateAndTime, fourDecimals, labels } from "./columns.js";
import { announce, byId, element, setAttribute, setChildren, setText } from "./elements.js";
import { Feed, request, storedKey, storeKey } from "./feed.js";
import { showResult } from "./result.js";
import { comparedRuns, showRun } from "./run.js";
import { isolated } from "./series.js";
import { Table } from "./table.js";
import { playCommands, showParticipation, showPhase, taskLine } from "./task.js";

const MAX_SELECTED = 8; // contestants: readers cannot tell more colours apart
const MAX_ROWS = 20; // a longer table scrolls under its headings
const DEFAULT_SELECTED = 4; // contestants that are selected until the visitor selects runs

const SECTIONS = ["table-section", "run-section", "charts-section", "run-details"]; // hidden until there is a board

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
      onUnfold: () => this.change({}),
      addressOf: (run) => this.addressOf(run),
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
    addEventListener("hashchange", () => this.navigate());
    for (const [id, action] of [["part-button", "showModal"], ["part-close", "close"]]) {
      byId(id).addEventListener("click", () => byId("part-dialog")[action]());
    }
    setInterval(() => this.showAge(), 5000);
  }

  // Shows the phase that the address names, or else the longest one with runs.
  async start() {
    const { phases } = this.settings;
    if (!phases.length) return this.showNoPhases();
    this.loadTask();
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

  // Says what an organiser has to do for the page to show anything.
  showNoPhases() {
    this.showState("none");
    byId("table-section").hidden = false;
    this.showEmpty(0, "This service has no task yet. The organiser loads one:", "banditmt corpus synth --out task\nbanditmt serve --task task");
  }

  // The header can do without the task: earlier services do not tell it.
  async loadTask() {
    if (!this.settings.task) return;
    this.task = await request(this.settings.task).then((response) => response.json()).catch(() => null);
    if (this.board) this.showHeader();
  }

  // The address: #phase=dev&runs=a,b&sort=-reward, and &run=a for the page of a run

  navigate() {
    const before = this.openRun;
    if (this.readAddress()) return this.follow(this.phase);
    if (!this.board) return null;
    this.updateSelection();
    this.show();
    if (before === this.openRun) return null;
    byId(this.shownRun() ? "run-title" : "title").focus();
    scrollTo(0, 0);
    return null;
  }

  addressOf(run) {
    const parameters = this.parameters();
    if (run) parameters.set("run", run);
    return `#${parameters}`;
  }

  readAddress() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    const phase = parameters.get("phase");
    const changed = phase !== null && phase !== this.phase;
    if (phase !== null) this.phase = phase;
    if (parameters.has("sort")) {
      const sort = parameters.get("sort");
      this.sort = { key: sort.replace(/^-/, ""), descending: sort.startsWith("-") };
    }
    this.openRun = parameters.get("run");
    this.requestedRuns = parameters.has("runs") ? parameters.get("runs").split(",").filter(Boolean).map(decodeURIComponent) : null;
    return changed;
  }

  parameters() {
    const parameters = new URLSearchParams({ phase: this.phase, sort: (this.sort.descending ? "-" : "") + this.sort.key });
    if (this.selectedByUser) parameters.set("runs", [...this.colours.keys()].map(encodeURIComponent).join(","));
    return parameters;
  }

  writeAddress() {
    history.replaceState(null, "", this.addressOf(this.openRun));
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
    const known = new Map(this.board.rows.map((row) => [row.run, row]));
    if (this.requestedRuns) {
      for (const run of this.colours.keys()) if (!this.requestedRuns.includes(run)) this.colours.delete(run);
      for (const run of this.requestedRuns) if (known.has(run)) this.assignColour(known.get(run));
      this.selectedByUser = true;
      this.requestedRuns = null;
    }
    for (const run of this.colours.keys()) if (!known.has(run)) this.colours.delete(run);
    if (this.selectedByUser || this.colours.size) return;
    const contestants = this.board.rows.filter((row) => row.role === "contestant").slice(0, DEFAULT_SELECTED);
    const compared = new Set(contestants.flatMap((row) => [row.baseline, row.regret?.oracle]));
    const references = this.board.rows.filter((row) => row.role !== "contestant" && (compared.has(row.run) || !contestants.length));
    for (const row of [...contestants, ...references]) this.assignColour(row);
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

  // Selects a run with the first free colour, or in grey if it is for comparison; returns whether there is a colour.
  assignColour({ run, role }) {
    if (this.colours.has(run)) return true;
    const taken = new Set(this.colours.values());
    const names = Array.from({ length: MAX_SELECTED }, (_, index) => `series-${index + 1}`);
    const free = role === "contestant" ? names.find((each) => !taken.has(each)) : "reference";
    if (free) this.colours.set(run, free);
    return free !== undefined;
  }

  select(run, selected) {
    this.notice("");
    if (!selected) this.colours.delete(run);
    else if (!this.assignColour(this.board.rows.find((row) => row.run === run))) {
      this.notice(`You can compare up to ${MAX_SELECTED} systems. Remove one before you add another.`);
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

  // Returns the run whose page is shown, if it is on the board.
  shownRun() {
    return this.openRun ? this.board.rows.find((row) => row.run === this.openRun || row.seeds.some((seed) => seed.run === this.openRun)) : null;
  }

  show() {
    const { board } = this;
    const run = this.shownRun();
    const rows = new Map(board.rows.map((row) => [row.run, row]));
    const names = labels(board.rows);
    const colours = run ? comparedRuns(run, board) : this.colours;
    const selected = [...colours].map(([each, colour]) => ({ row: rows.get(each), label: names.get(each), colour }));
    this.showHeader();
    showResult(board, (each) => this.addressOf(each));
    byId("result").hidden ||= Boolean(run);
    this.showTable();
    if (run) showRun(run, board, this);
    setAttribute(byId("run-back"), "href", this.addressOf(null));
    this.showSelected(run ? [] : selected);
    for (const id of SECTIONS) byId(id).inert = false;
    byId("table-section").hidden = Boolean(run);
    byId("run-section").hidden = byId("run-details").hidden = !run;
    byId("charts-section").hidden = !board.rows.length;
    setText(byId("charts-heading"), run ? "Beside its seed model and its oracle" : "Compare");
    this.charts.show(board, selected, this);
    this.showAge();
  }

  showTable() {
    const visible = this.table.show(this.board, this);
    const [reason, commands] = this.whyEmpty();
    this.showEmpty(visible, reason, commands);
  }

  showHeader() {
    const { board } = this;
    this.showTitle();
    setText(byId("task"), taskLine(this.task));
    showPhase(board, this.task);
    setText(byId("visibility"), this.visibility());
    byId("part-button").hidden = !this.settings.live || board.state !== "open";
    showParticipation(this.task, this.phase);
    const signatures = Object.entries(board.signatures).flatMap(([name, text]) => [
      element("dt", {}, name.replaceAll("_", " ")),
      element("dd", {}, text),
    ]);
    if (byId("signatures").textContent !== signatures.map((each) => each.textContent).join("")) byId("signatures").replaceChildren(...signatures);
  }

  showTitle() {
    document.title = `${this.phase} · Leaderboard`;
    setText(byId("title"), `The ${this.phase} phase`);
  }

  // Shows only the title, if there is no board of this phase: nothing of another phase may stay.
  showNothing() {
    for (const id of [...SECTIONS, "result"]) byId(id).hidden = true;
    byId("part-button").hidden = true;
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

  // Shows why there is nothing to see, and what to do about it.
  showEmpty(visible, reason, commands) {
    const empty = byId("empty");
    const content = [element("p", {}, reason), commands && element("pre", { tabindex: 0 }, commands)].filter(Boolean);
    if (empty.textContent !== content.map((each) => each.textContent).join("")) empty.replaceChildren(...content);
    empty.hidden = visible > 0;
    byId("board").hidden = visible === 0;
    byId("board").parentElement.classList.toggle("long", visible > MAX_ROWS);
    const hasRows = Boolean(this.board?.rows.length);
    for (const id of ["table-bar", "downloads"]) byId(id).hidden = !hasRows;
  }

  // Returns why the table is empty, and commands that fill it.
  whyEmpty() {
    const { board } = this;
    const canPlay = this.settings.live && board.state === "open";
    const commands = canPlay ? playCommands(this.phase) : "";
    if (board.rows.length) return ["No systems match. Clear the search, or untick “selected only”."];
    if (board.visible === "all") {
      return canPlay
        ? ["No rounds have been played yet. Be the first: get an API key from the organiser, and let a system play.", commands]
        : ["No rounds have been played."];
    }
    return storedKey()
      ? ["You have not played a round of this phase yet.", commands]
      : ["The runs of this phase are not public yet. Use the button “API key” to see your own, or take part:", commands];
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

// Moves the focus without changing the address, which holds the state of the page.
function listenToSkip() {
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    const [section, heading] = byId("run-section").hidden ? ["table-section", "table-heading"] : ["run-section", "run-title"];
    byId(byId(section).hidden || byId(section).inert ? "title" : heading).focus();
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
