// The page of a run, or of several seeds of a system: what it is, its numbers, its seeds and its held-out passes.

import {
  columnsOf, coverage, dateAndTime, fourDecimals, labels, letter, oneDecimal, percentWithDecimal, plusMinus, seedOf, signed, twoDecimals,
  warning, whole,
} from "./columns.js";
import { byId, element, link, setText } from "./elements.js";
import { teamOf } from "./table.js";

// Returns [name, value, note] of the facts that the columns of the table do not have.
function activity(row) {
  const times = [["First round", row.first_at], ["Last round", row.last_at]];
  return times.filter(([, time]) => time != null).map(([name, time]) => [name, dateAndTime(time), ""]);
}

function rankOf(row, board) {
  if (row.rank == null) return [];
  const ranked = board.rows.filter((other) => other.rank != null).length;
  return [["Rank", `${row.rank} of ${ranked}`, row.group == null ? "" : `group ${letter(row.group)}`]];
}

function facts(row, board, state) {
  const skipped = new Set(["rank", "system", "last_at"]);
  const columns = columnsOf(board).filter((column) => !skipped.has(column.key));
  const values = columns.map((column) => {
    const note = column.note?.(row, state) ?? "";
    return [column.label, column.format(row, state), note, [column.title, note && coverage(column.covers?.(row))].filter(Boolean).join(". ")];
  });
  return [...rankOf(row, board), ...values.filter(([, value]) => value !== "–"), ...activity(row)];
}

const factElement = ([name, value, note, title]) =>
  element("div", { title: title || false }, element("dt", {}, name), element("dd", {}, value, note ? element("span", { class: "note" }, note) : ""));

// Returns a table: [heading, cell of an item] for every column.
function tableOf(caption, columns, items) {
  const cell = (tag, text, index) => element(tag, index ? { class: "number" } : {}, text);
  const head = element("tr", {}, ...columns.map(([heading], index) => cell("th", heading, index)));
  for (const heading of head.children) heading.setAttribute("scope", "col");
  const lines = items.map((item) => element("tr", {}, ...columns.map(([, text], index) => cell("td", text(item), index))));
  return element("table", {}, element("caption", { class: "hidden" }, caption), element("thead", {}, head), element("tbody", {}, ...lines));
}

const withInterval = (text, interval, format) => `${text} ${plusMinus(interval, format)}`.trim();

function seedTable(row) {
  return tableOf("The seeds of the system", [
    ["Seed", (seed) => `${seedOf(seed)}`],
    ["Mean reward", (seed) => withInterval(fourDecimals(seed.mean_reward), seed.interval)],
    ["Gain", (seed) => withInterval(signed(fourDecimals)(seed.reward_gain?.value), seed.reward_gain?.interval)],
    ["Gap closed", (seed) => percentWithDecimal(seed.gap_closed)],
    ["BLEU", (seed) => oneDecimal(seed.measures.bleu?.value)],
    ["Rounds", (seed) => whole(seed.rounds)],
  ], row.seeds);
}

function passTable(row, board) {
  const end = (each) => board.held_out.ends[each.held_out_pass];
  return tableOf("Held-out passes", [
    ["Pass", (each) => `${each.held_out_pass + 1}${end(each) ? `, to round ${whole(end(each))}` : ""}`],
    ["Corpus BLEU", (each) => oneDecimal(each.corpus_bleu)],
    ["gain", (each) => signed(oneDecimal)(each.relative_corpus_bleu)],
    ["Sentence BLEU", (each) => oneDecimal(each.sentence_bleu)],
    ["gain", (each) => signed(oneDecimal)(each.relative_sentence_bleu)],
    ["Length", (each) => twoDecimals(each.length_ratio)],
  ], row.passes);
}

// Shows the page of a run.
export function showRun(row, board, state) {
  const names = labels(board.rows);
  const context = { ...state, against: state.against, places: new Map() };
  setText(byId("run-title"), names.get(row.run));
  const words = [row.role === "contestant" ? "" : row.role, row.status === "finished" ? "" : row.status, row.seeds.length ? `mean of ${row.seeds.length} seeds` : ""];
  byId("run-badges").replaceChildren(...words.filter(Boolean).map((word) => element("span", { class: "badge" }, word)));
  byId("run-team").replaceChildren(teamOf(row), row.affiliation ? `, ${row.affiliation}` : "");
  const about = row.system_description ?? "The team has not described this system.";
  byId("run-about").replaceChildren(about, " ", row.system_link ? link("Paper or code", row.system_link) : "");
  setText(byId("run-warning"), warning(row, names));
  byId("run-warning").hidden = !warning(row, names);
  byId("run-facts").replaceChildren(...facts(row, board, context).map(factElement));
  byId("run-seeds").hidden = !row.seeds.length;
  byId("run-seeds-table").replaceChildren(row.seeds.length ? seedTable(row) : "");
  const deviation = row.seed_deviation == null ? "" : `Standard deviation of the mean reward between seeds: ${fourDecimals(row.seed_deviation)}.`;
  setText(byId("run-deviation"), `${deviation} Intervals of single seeds cover chance in sentences, those of the mean also chance in seeds.`);
  byId("run-passes").hidden = !row.passes.length;
  byId("run-passes-table").replaceChildren(row.passes.length ? passTable(row, board) : "");
}

// Returns what the charts of the page of a run show: the run, its seed model and its oracle.
export function comparedRuns(row, board) {
  const wanted = [row.run, row.baseline, row.regret?.oracle];
  const rows = wanted.map((run) => board.rows.find((other) => other.run === run)).filter(Boolean);
  return new Map(rows.map((each) => [each.run, each.run === row.run && row.role === "contestant" ? "series-1" : "reference"]));
}
