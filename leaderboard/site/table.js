// The table of runs. Runs for comparison are thin rows in their place in the order; unfinished runs come last.

import { columnsOf, coverage, labels, percent, seedOf, sorted, warning } from "./columns.js";
import { byId, element, link, setAttribute, setChildren, setText } from "./elements.js";

const SECTIONS = [
  ["finished", "", (row) => row.status === "finished"],
  ["unfinished", "Running or abandoned, not ranked", (row) => row.status !== "finished"],
];

const ARROWS = { higher: ["↑", "higher is better"], lower: ["↓", "lower is better"] };

// The first click on a heading shows the best value first, or the lowest if neither direction is better.
const firstDescending = (column) => column.better === "higher";

// Returns a function from a reward to its place on an axis that all rows share, which begins at zero.
function rewardScale(rows) {
  const highest = Math.max(...rows.map((row) => row.interval?.[1] ?? row.mean_reward));
  return (value) => `${(100 * value) / (highest || 1)}%`;
}

export class Table {
  // Callbacks: onSelect(run, selected), onSort({key, descending}), onUnfold(), addressOf(run)
  constructor({ onSelect, onSort, onUnfold, addressOf }) {
    Object.assign(this, { onSelect, onSort, onUnfold, addressOf });
    this.rows = new Map(); // run: elements of its row
    this.columns = [];
    this.unfolded = new Set(); // runs whose seeds are shown
  }

  // Makes headings and rows again if another board has other columns.
  setColumns(columns) {
    const keys = (each) => each.map((column) => column.key).join();
    if (keys(columns) === keys(this.columns)) return;
    this.columns = columns;
    this.rows.clear();
    this.headings = this.makeHeadings();
    this.titles = new Map(SECTIONS.map(([id, title]) => [id, title && this.makeTitle(title)]));
  }

  makeHeadings() {
    const select = element("th", { scope: "col", class: "select" }, element("span", { class: "hidden" }, "Compare"));
    const headings = this.columns.map((column) => {
      const button = element("button", { type: "button", title: column.title ?? false }, column.label);
      if (column.better) {
        const [arrow, meaning] = ARROWS[column.better];
        button.append(
          element("span", { class: "better", "aria-hidden": "true" }, ` ${arrow}`),
          element("span", { class: "hidden" }, `, ${meaning}`),
        );
      }
      button.append(element("span", { class: "order", "aria-hidden": "true" }));
      button.addEventListener("click", () => this.sortBy(column));
      return element("th", { scope: "col", class: `column-${column.key}${column.text ? "" : " number"}` }, button);
    });
    byId("headings").replaceChildren(select, ...headings);
    return new Map(this.columns.map((column, index) => [column.key, headings[index]]));
  }

  makeTitle(title) {
    const heading = element("th", { scope: "rowgroup", colspan: this.columns.length + 1 }, element("span", {}, title));
    return element("tr", { class: "section" }, heading);
  }

  sortBy(column) {
    const same = this.sort.key === column.key;
    this.onSort({ key: column.key, descending: same ? !this.sort.descending : firstDescending(column) });
  }

  // Shows a board; returns how many systems are visible. state: {sort, filter, only, against, colours: Map of selected runs}
  show(board, state) {
    this.setColumns(columnsOf(board));
    const known = this.columns.find((column) => column.key === state.sort.key);
    this.sort = known ? state.sort : { key: "rank", descending: false };
    const column = known ?? this.columns[0];
    this.showSort();
    const context = { ...state, against: state.against, places: new Map(board.rows.map((row, index) => [row.run, index])) };
    context.names = labels(board.rows);
    context.scale = rewardScale(board.rows);
    const visible = board.rows.filter((row) => this.matches(row, state));
    const current = new Set(board.rows.flatMap((row) => [row.run, ...row.seeds.map((seed) => seed.run)]));
    for (const run of this.rows.keys()) if (!current.has(run)) this.rows.delete(run);
    for (const [id, , belongs] of SECTIONS) {
      const rows = sorted(visible.filter(belongs), column, this.sort.descending, context);
      const shown = rows.flatMap((row) => this.lines(row, context));
      const title = this.titles.get(id);
      setChildren(byId(id), shown.length && title ? [title, ...shown] : shown);
    }
    return visible.length;
  }

  showSort() {
    for (const [key, heading] of this.headings) {
      const active = key === this.sort.key;
      setAttribute(heading, "aria-sort", active && (this.sort.descending ? "descending" : "ascending"));
      setText(heading.querySelector(".order"), active ? (this.sort.descending ? "▼" : "▲") : "");
    }
  }

  matches(row, state) {
    if (state.only && !state.colours.has(row.run)) return false;
    const wanted = state.filter.trim().toLowerCase();
    return !wanted || `${row.system} ${row.participant} ${row.display_name ?? ""}`.toLowerCase().includes(wanted);
  }

  // Returns the line of a row, followed by those of its seeds if they are unfolded.
  lines(row, context) {
    const seeds = this.unfolded.has(row.run) ? row.seeds : [];
    return [this.update(row, context), ...seeds.map((seed) => this.update(seed, context, true))];
  }

  update(row, context, isSeed = false) {
    const parts = this.rows.get(row.run) ?? this.makeRow(row, isSeed);
    const kind = isSeed ? "seed" : row.role === "contestant" ? "contestant" : `reference ${row.role}`;
    setAttribute(parts.line, "class", `${kind} ${row.status}`);
    if (!isSeed) this.updateName(parts, row, context);
    for (const [column, value, note, drawing] of parts.cells) {
      setText(value, column.format(row, context));
      setText(note, this.note(column, row, context));
      setAttribute(note, "title", coverage(column.covers?.(row)) || false);
      if (drawing) this.draw(drawing, row, context.scale);
    }
    return parts.line;
  }

  updateName(parts, row, context) {
    const colour = context.colours.get(row.run);
    parts.box.checked = colour !== undefined;
    setAttribute(parts.box, "aria-label", `Compare ${context.names.get(row.run)}`);
    setAttribute(parts.swatch, "class", colour ? `swatch ${colour} ${row.role}` : "swatch");
    setText(parts.badge, this.badge(row));
    setAttribute(parts.badge, "class", `badge ${row.role === "contestant" ? row.status : row.role}`);
    setAttribute(parts.system.querySelector("a"), "href", this.addressOf(row.run));
    const count = row.seeds.length;
    const isOpen = this.unfolded.has(row.run);
    parts.seeds.hidden = !count;
    setText(parts.seeds, count ? `${isOpen ? "▾" : "▸"} ${count} seeds` : "");
    setAttribute(parts.seeds, "aria-expanded", String(isOpen));
    this.updateWarning(parts, warning(row, context.names));
  }

  // Draws the mean as a bar, and its interval at the end of the bar.
  draw({ range, bar }, row, scale) {
    bar.style.width = scale(row.mean_reward);
    range.hidden = !row.interval;
    if (!row.interval) return;
    range.style.left = scale(row.interval[0]);
    range.style.right = `calc(100% - ${scale(row.interval[1])})`;
  }

  // Shows that a run earned more with lower corpus BLEU: in words, with the numbers for the pointer and screen readers.
  updateWarning({ warned, details }, sentence) {
    warned.hidden = !sentence;
    setAttribute(warned, "title", sentence || false);
    setText(details, sentence && `: ${sentence}`);
  }

  badge(row) {
    const words = row.role === "contestant" ? [] : [row.role];
    if (row.status !== "finished") words.push(row.status);
    return words.join(", ");
  }

  note(column, row, context) {
    if (column.key === "progress" && row.status !== "finished") return percent(row.progress);
    return column.note?.(row, context) ?? "";
  }

  makeRow(row, isSeed) {
    const parts = { cells: [], line: element("tr") };
    const select = element("td", { class: "select" });
    const name = isSeed ? element("th", { scope: "row", class: "name" }, `seed ${seedOf(row)}`) : this.makeName(row, parts);
    if (!isSeed) {
      parts.box = element("input", { type: "checkbox" });
      parts.box.addEventListener("change", () => this.onSelect(row.run, parts.box.checked));
      parts.swatch = element("span", { class: "swatch" });
      select.append(element("label", {}, parts.box, parts.swatch));
    }
    parts.line.append(select);
    for (const column of this.columns) parts.line.append(column.text ? name : this.makeCell(column, parts));
    this.rows.set(row.run, parts);
    return parts;
  }

  makeCell(column, parts) {
    const value = element("span", { class: "value" });
    const note = element("span", { class: "note" });
    const drawing = column.drawn ? { bar: element("span", { class: "mean" }), range: element("span", { class: "range" }) } : null;
    parts.cells.push([column, value, note, drawing]);
    const attributes = { class: `number column-${column.key}` };
    if (!drawing) return element("td", attributes, value, note);
    const track = element("span", { class: "track", "aria-hidden": "true" }, drawing.bar, drawing.range);
    return element("td", attributes, element("span", { class: "with-track" }, track, element("span", {}, value, note)));
  }

  makeName(row, parts) {
    parts.system = element("bdi", { class: "system", title: row.system_description ?? row.system }, element("a", {}, row.system));
    parts.badge = element("span", { class: "badge" });
    parts.seeds = element("button", { type: "button", class: "seeds" });
    parts.seeds.addEventListener("click", () => {
      if (!this.unfolded.delete(row.run)) this.unfolded.add(row.run);
      this.onUnfold();
    });
    parts.details = element("span", { class: "hidden" });
    parts.warned = element("span", { class: "warned", hidden: true }, "reward up, BLEU down", parts.details);
    const first = element("span", { class: "first" }, parts.system, parts.badge, parts.seeds);
    return element("th", { scope: "row", class: "name" }, first, teamOf(row), parts.warned);
  }
}

// Returns the team of a run, with a link if it has one.
export function teamOf(row) {
  const team = row.display_name ? `${row.display_name} (${row.participant})` : row.participant;
  const title = row.affiliation ? `${team}, ${row.affiliation}` : team;
  const by = row.attempt > 1 ? `${team}, run ${row.attempt}` : team;
  return element("bdi", { class: "participant", title }, link(by, row.team_url));
}
