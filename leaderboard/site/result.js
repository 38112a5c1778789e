// The result in one glance: who leads, and by how much.

import { fourDecimals, isPostEdit, labels, oneDecimal, percentWithDecimal, plusMinus, signed, whole, coverage } from "./columns.js";
import { byId, element, setText } from "./elements.js";
import { isolated } from "./series.js";
import { teamOf } from "./table.js";

const excludesZero = (interval) => interval && (interval[0] > 0 || interval[1] < 0);

// Returns [heading, value, interval, sentence about it] of everything that says how far ahead the leader is.
function facts(board, leader, names) {
  const { reward_gain: gain, gap_closed: gap, last_quarter: late } = leader;
  const { lead } = board;
  const found = [["Reward per round", fourDecimals(leader.mean_reward), leader, `${whole(leader.rounds)} rounds`]];
  if (gain) {
    const note = excludesZero(gain.interval) ? (gain.value > 0 ? "learning helped" : "learning hurt") : "not significant";
    found.push([`Gain over ${isolated(names.get(gain.baseline))}`, signed(fourDecimals)(gain.value), gain, note]);
  }
  if (lead?.run === leader.run) {
    const note = excludesZero(lead.interval) ? "significant" : "not significant";
    found.push([`Ahead of ${isolated(names.get(lead.over))}`, signed(fourDecimals)(lead.value), lead, note]);
  }
  if (gap != null) found.push(["Gap to the oracle closed", percentWithDecimal(gap), null, "between seed model and oracle"]);
  else if (isPostEdit(board) && leader.measures.r0_1) found.push(["R0+1", oneDecimal(leader.measures.r0_1.value), leader.measures.r0_1, "recall of new words"]);
  else if (late) found.push(["Late BLEU", oneDecimal(late.corpus_bleu), null, "in the last quarter of the rounds"]);
  return found;
}

function tile([heading, value, estimate, note]) {
  const interval = plusMinus(estimate?.interval, estimate?.value === undefined || Math.abs(estimate.value) < 1 ? fourDecimals : oneDecimal);
  const covers = coverage(estimate?.covers ?? estimate?.interval_covers);
  const number = element("dd", {}, element("b", {}, value), interval ? element("span", { class: "quiet", title: covers || false }, ` ${interval}`) : "");
  return element("div", {}, element("dt", {}, heading), number, element("dd", { class: "quiet" }, note));
}

// Returns the sentence above the name of the leader.
function headline(board, leader) {
  if (leader.status !== "finished") return "No run has finished yet. Ahead so far:";
  return board.state === "closed" ? "Winner" : "In the lead";
}

// Shows the leader of a board: the best ranked run, or, if none has finished, the best of those that play.
export function showResult(board, addressOf) {
  const names = labels(board.rows);
  const contestants = board.rows.filter((row) => row.role === "contestant");
  const playing = contestants.filter((row) => row.status === "running").sort((a, b) => b.mean_reward - a.mean_reward);
  const leader = contestants.find((row) => row.rank === 1) ?? playing[0];
  byId("result").hidden = !leader;
  if (!leader) return byId("tiles").replaceChildren();
  setText(byId("result-heading"), headline(board, leader));
  const name = element("a", { href: addressOf(leader.run) }, names.get(leader.run));
  const seeds = leader.seeds.length ? element("span", { class: "badge" }, `mean of ${leader.seeds.length} seeds`) : "";
  const isMarked = leader.last_quarter?.difference?.reward_up_bleu_down;
  const marked = isMarked ? element("span", { class: "warned" }, "reward up, BLEU down") : "";
  const content = [element("bdi", {}, name), seeds, teamOf(leader), marked].filter(Boolean);
  replaceIfChanged(byId("leader"), content);
  return replaceIfChanged(byId("tiles"), facts(board, leader, names).map(tile));
}

// Replaces the children only if their text changes: what a reader looks at does not flicker.
function replaceIfChanged(parent, children) {
  if (parent.textContent !== children.map((child) => child.textContent).join("")) parent.replaceChildren(...children);
}
