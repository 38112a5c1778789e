// The table of runs: oracles, baselines and others for comparison on top, then finished runs, then unfinished ones.

import { columnsOf, labels, percent, sorted, warning } from "./columns.js";
import { byId, element, link, setAttribute, setChildren, setText } from "./elements.js";

const SECTIONS = [
  ["references", "For comparison", (row) => row.role !== "contestant"],
  ["finished", "Finished", (row) => row.role === "contestant" && row.status === "finished"],
  ["unfinished", "Running or abandoned, not ranked", (row) => row.role === "contestant" && row.status !== "finished"],
];

const ARROWS = { higher: ["↑", "higher is better"], lower: ["↓", "lower is better"] };

// The first click on a heading shows the best value first, or the lowest if neither direction is better.
const firstDescending = (column) => column.better === "higher";

export class Table {
  // Callbacks: onSelect(run, selected), onSort({key, descending})
  constructor({ onSelect, onSort }) {
    this.onSelect = onSelect;
    this.onSort = onSort;
    this.rows = new Map(); // run: elements of its row
    this.columns = [];
  }

  // Makes headings and rows again if another board has other columns.
  setColumns(columns) {
    const keys = (each) => each.map((column) => column.key).join();
    if (keys(columns) === keys(this.columns)) return;
    this.columns = columns;
    this.rows.clear();
    this.headings = this.makeHeadings();
    this.titles = new Map(SECTIONS.map(([id, title]) => [id, this.makeTitle(title)]));
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

  // Shows a board; returns how many runs are visible. state: {sort, filter, only, against, colours: Map of selected runs}
  show(board, state) {
    this.setColumns(columnsOf(board));
    const known = this.columns.find((column) => column.key === state.sort.key);
    this.sort = known ? state.sort : { key: "rank", descending: false };
    const column = known ?? this.columns[0];
    this.showSort();
    const names = labels(board.rows);
    const visible = board.rows.filter((row) => this.matches(row, state));
    const current = new Set(board.rows.map((row) => row.run));
    for (const run of this.rows.keys()) if (!current.has(run)) this.rows.delete(run);
    for (const [id, , belongs] of SECTIONS) {
      const rows = sorted(visible.filter(belongs), column, this.sort.descending, state); // runs without a rank keep the board's order
      const shown = rows.map((row) => this.update(row, names, state));
      setChildren(byId(id), shown.length ? [this.titles.get(id), ...shown] : []);
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

  update(row, names, state) {
    const name = names.get(row.run);
    const parts = this.rows.get(row.run) ?? this.makeRow(row);
    const colour = state.colours.get(row.run);
    setAttribute(parts.line, "class", `${row.role} ${row.status}`);
    parts.box.checked = colour !== undefined;
    setAttribute(parts.box, "aria-label", `Compare ${name}`);
    setAttribute(parts.swatch, "class", colour ? `swatch ${colour} ${row.role}` : "swatch");
    setText(parts.badge, this.badge(row));
    setAttribute(parts.badge, "class", `badge ${row.role === "contestant" ? row.status : row.role}`);
    this.updateWarning(parts, warning(row, names));
    for (const [column, value, note] of parts.cells) {
      setText(value, column.format(row, state));
      setText(note, this.note(column, row, state));
    }
    return parts.line;
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

  note(column, row, state) {
    if (column.key === "progress" && row.status !== "finished") return percent(row.progress);
    return column.note?.(row, state) ?? "";
  }

  makeRow(row) {
    const box = element("input", { type: "checkbox" });
    box.addEventListener("change", () => this.onSelect(row.run, box.checked));
    const swatch = element("span", { class: "swatch" });
    const badge = element("span", { class: "badge" });
    const details = element("span", { class: "hidden" });
    const warned = element("span", { class: "warned", hidden: true }, "reward up, BLEU down", details);
    const cells = [];
    const line = element("tr", {}, element("td", { class: "select" }, element("label", {}, box, swatch)));
    for (const column of this.columns) {
      if (column.text) {
        line.append(this.makeName(row, badge, warned));
      } else {
        const value = element("span", { class: "value" });
        const note = element("span", { class: "note" });
        cells.push([column, value, note]);
        line.append(element("td", { class: `number column-${column.key}` }, value, note));
      }
    }
    const parts = { line, box, swatch, badge, warned, details, cells };
    this.rows.set(row.run, parts);
    return parts;
  }

  makeName(row, badge, warned) {
    const about = row.system_description ?? row.system;
    const system = element("bdi", { class: "system", title: about }, link(row.system, row.system_link));
    const team = row.display_name ? `${row.display_name} (${row.participant})` : row.participant;
    const title = row.affiliation ? `${team}, ${row.affiliation}` : team;
    const by = row.attempt > 1 ? `${team}, run ${row.attempt}` : team;
    const participant = element("bdi", { class: "participant", title }, link(by, row.team_url));
    return element("th", { scope: "row", class: "name" }, element("span", { class: "first" }, system, badge), participant, warned);
  }
}
