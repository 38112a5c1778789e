// The table of runs: pinned oracles and baselines, finished runs, and those that are not finished.

import { COLUMNS, columnOf, labels, percent, sorted } from "./columns.js";
import { arrange, byId, element, setAttribute, setText } from "./elements.js";

const SECTIONS = [
  ["references", "Oracles and baselines", (row) => row.role !== "contestant"],
  ["finished", "Finished", (row) => row.role === "contestant" && row.status === "finished"],
  ["unfinished", "Under way or abandoned, not ranked", (row) => row.role === "contestant" && row.status !== "finished"],
];

const ARROWS = { more: ["↑", "more is better"], less: ["↓", "less is better"] };

// Best first where something is better, else from the least.
const bestFirst = (column) => column.better === "more";

export class Table {
  // onChoose(run, chosen), onSort({key, descending})
  constructor({ onChoose, onSort }) {
    this.onChoose = onChoose;
    this.onSort = onSort;
    this.rows = new Map(); // run: its elements
    this.headings = this.makeHeadings();
    this.titles = new Map(SECTIONS.map(([id, title]) => [id, this.makeTitle(title)]));
  }

  makeHeadings() {
    const choose = element("th", { scope: "col", class: "choose" }, element("span", { class: "hidden" }, "Compare"));
    const made = COLUMNS.map((column) => {
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
    byId("headings").replaceChildren(choose, ...made);
    return new Map(COLUMNS.map((column, place) => [column.key, made[place]]));
  }

  makeTitle(title) {
    const heading = element("th", { scope: "rowgroup", colspan: COLUMNS.length + 1 }, element("span", {}, title));
    return element("tr", { class: "section" }, heading);
  }

  sortBy(column) {
    const same = this.sort.key === column.key;
    this.onSort({ key: column.key, descending: same ? !this.sort.descending : bestFirst(column) });
  }

  // state: {sort, filter, only, against, colours: Map of chosen run to its colour}
  show(board, state) {
    this.sort = columnOf(state.sort.key) ? state.sort : { key: "rank", descending: false };
    this.showSort();
    const names = labels(board.rows);
    const visible = board.rows.filter((row) => this.matches(row, state));
    const living = new Set(board.rows.map((row) => row.run));
    for (const run of this.rows.keys()) if (!living.has(run)) this.rows.delete(run);
    for (const [id, , belongs] of SECTIONS) {
      const rows = sorted(visible.filter(belongs), this.sort, state); // without ranks, as the board has them: by reward
      const shown = rows.map((row) => this.update(row, names.get(row.run), state));
      arrange(byId(id), shown.length ? [this.titles.get(id), ...shown] : []);
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
    return !wanted || `${row.system} ${row.participant}`.toLowerCase().includes(wanted);
  }

  update(row, name, state) {
    const parts = this.rows.get(row.run) ?? this.make(row);
    const colour = state.colours.get(row.run);
    setAttribute(parts.line, "class", `${row.role} ${row.status}${colour ? " is-chosen" : ""}`);
    parts.box.checked = colour !== undefined;
    setAttribute(parts.box, "aria-label", `Compare ${name}`);
    setAttribute(parts.swatch, "class", colour ? `swatch ${colour} ${row.role}` : "swatch");
    setText(parts.badge, this.badge(row));
    setAttribute(parts.badge, "class", `badge ${row.role === "contestant" ? row.status : row.role}`);
    for (const [column, value, note] of parts.cells) {
      setText(value, column.write(row, state));
      setText(note, this.note(column, row, state));
    }
    return parts.line;
  }

  badge(row) {
    const said = row.role === "contestant" ? [] : [row.role];
    if (row.status !== "finished") said.push(row.status);
    return said.join(", ");
  }

  note(column, row, state) {
    if (column.key === "progress" && row.status !== "finished") return percent(row.progress);
    return column.note?.(row, state) ?? "";
  }

  make(row) {
    const box = element("input", { type: "checkbox" });
    box.addEventListener("change", () => this.onChoose(row.run, box.checked));
    const swatch = element("span", { class: "swatch" });
    const badge = element("span", { class: "badge" });
    const cells = [];
    const line = element("tr", {}, element("td", { class: "choose" }, element("label", {}, box, swatch)));
    for (const column of COLUMNS) {
      if (column.text) {
        line.append(this.makeName(row, badge));
      } else {
        const value = element("span", { class: "value" });
        const note = element("span", { class: "note" });
        cells.push([column, value, note]);
        line.append(element("td", { class: `number column-${column.key}` }, value, note));
      }
    }
    const parts = { line, box, swatch, badge, cells };
    this.rows.set(row.run, parts);
    return parts;
  }

  makeName(row, badge) {
    const system = element("bdi", { class: "system", title: row.system }, row.system);
    const by = row.attempt > 1 ? `${row.participant}, run ${row.attempt}` : row.participant;
    const participant = element("bdi", { class: "participant", title: row.participant }, by);
    return element("th", { scope: "row", class: "name" }, element("span", { class: "first" }, system, badge), participant);
  }
}
