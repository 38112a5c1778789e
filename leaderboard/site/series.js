// What the charts show: for every chosen run a line of points, and a sentence about all of them.

import { four, one, regretOf, signed, two, whole } from "./columns.js";

const SETTLED = 10; // rounds of a long phase before which a mean is noise that would squeeze the rest of its curve

function curve(value) {
  return (row, board, state) => {
    const first = board.total >= 100 * SETTLED ? SETTLED : 1;
    return row.curve.flatMap((reward, place) => {
      const rounds = board.checkpoints[place];
      const found = rounds < first ? null : value(reward, place, rounds, row, board, state);
      return found == null ? [] : [[rounds, found]];
    });
  };
}

// Until a phase is closed the service does not tell where its passes end: then they are only counted.
const pass = (field) => (row, board) =>
  row.passes.map((each) => [board.held_out.ends[each.held_out_pass] ?? each.held_out_pass + 1, each[field]]);

function regretAt(reward, place, rounds, row, board, state) {
  const run = state.against ?? row.regret?.oracle;
  if (run === undefined || run === row.run || regretOf(row, state.against) == null) return null;
  const oracle = board.rows.find((other) => other.run === run)?.curve[place];
  return oracle === undefined ? null : (oracle - reward) / rounds;
}

// Why a chart has nothing to show, in words.

const NOTHING_YET = "None of the chosen runs has anything to show here yet.";

function whyNoRegret(board, chosen) {
  if (!board.rows.some((row) => row.role === "oracle")) {
    return board.visible === "own"
      ? "Regret is what an oracle earned more; the oracles' runs are not shown before this phase is closed."
      : "Regret is what an oracle earned more, and this phase has no oracle yet.";
  }
  return chosen.every(({ row }) => row.role === "oracle") ? "Regret is measured against oracles: choose other runs, too." : NOTHING_YET;
}

function whyNoPasses(board) {
  if (board.visible === "own") {
    return "Not told before this phase is closed, because nobody may know which rounds are held out.";
  }
  const { passes } = board.held_out;
  if (!passes) return "This phase has no held-out passes.";
  if (board.held_out.ends.length) return NOTHING_YET;
  return `The first of ${passes} held-out passes is told when a run has played 1/${passes} of its rounds, so that nobody learns which rounds are held out.`;
}

// Each view is one of the charts that the server describes; best tells which end of the scale is good.
const VIEWS = {
  regret: { points: curve(regretAt), write: four, best: "lowest", what: "running regret", why: whyNoRegret },
  mean_reward: {
    points: curve((reward, _place, rounds) => reward / rounds),
    write: four,
    best: "highest",
    what: "reward per round",
  },
  reward: { points: curve((reward) => reward), write: one, best: "highest", what: "cumulative reward" },
  corpus_bleu: {
    points: pass("corpus_bleu"),
    write: one,
    best: "highest",
    what: "held-out corpus BLEU",
    why: whyNoPasses,
  },
  relative_corpus_bleu: {
    points: pass("relative_corpus_bleu"),
    write: signed(one),
    best: "highest",
    what: "gain in corpus BLEU",
    why: whyNoPasses,
  },
  sentence_bleu: {
    points: pass("sentence_bleu"),
    write: one,
    best: "highest",
    what: "held-out sentence BLEU",
    why: whyNoPasses,
  },
  relative_sentence_bleu: {
    points: pass("relative_sentence_bleu"),
    write: signed(one),
    best: "highest",
    what: "gain in sentence BLEU",
    why: whyNoPasses,
  },
  length_ratio: {
    points: pass("length_ratio"),
    write: two,
    best: "closest to 1",
    what: "length ratio",
    why: whyNoPasses,
  },
};

export const CHARTS = [
  { id: "regret", title: "Running regret", wide: true, views: [["regret", ""]] },
  { id: "reward", title: "Reward", views: [["mean_reward", "per round"], ["reward", "cumulative"]] },
  {
    id: "corpus",
    title: "Held-out corpus BLEU",
    views: [["corpus_bleu", "absolute"], ["relative_corpus_bleu", "gain"]],
  },
  {
    id: "sentence",
    title: "Held-out sentence BLEU",
    views: [["sentence_bleu", "absolute"], ["relative_sentence_bleu", "gain"]],
  },
  { id: "length", title: "Length ratio of held-out passes", views: [["length_ratio", ""]] },
];

export class Series {
  // chosen: [{row, label, colour}]
  constructor(view, board, chosen, state) {
    Object.assign(this, { why: () => NOTHING_YET }, VIEWS[view]);
    this.view = view;
    this.board = board;
    this.chosen = chosen;
    this.counted = this.why === whyNoPasses && !board.held_out.ends.length; // x is a number of passes, not of rounds
    const found = chosen.map((each) => ({ ...each, points: this.points(each.row, board, state) }));
    this.lines = found.filter((line) => line.points.length);
    for (const line of this.lines) line.at = new Map(line.points);
    this.rounds = [...new Set(this.lines.flatMap((line) => line.points.map(([rounds]) => rounds)))].sort((a, b) => a - b);
  }

  // As the chart's data set wants them.
  values() {
    return this.lines.flatMap(({ row, colour, points }) =>
      points.map(([rounds, value]) => ({
        run: row.run,
        role: row.role,
        color: `var(--${colour})`,
        rounds,
        [this.view]: value,
      })),
    );
  }

  // A place on the axis, in words.
  written(x) {
    return this.counted ? `pass ${x}` : `${whole(x)} rounds`;
  }

  // Best first.
  ordered(lines, value) {
    const badness = { lowest: (v) => v, highest: (v) => -v, "closest to 1": (v) => Math.abs(v - 1) }[this.best];
    return [...lines].sort((a, b) => badness(value(a)) - badness(value(b)));
  }

  // [{label, colour, role, text}] of all runs at a number of rounds, best first.
  at(rounds) {
    const there = this.lines.filter((line) => line.at.has(rounds));
    return this.ordered(there, (line) => line.at.get(rounds)).map((line) => ({
      ...line,
      text: this.write(line.at.get(rounds)),
    }));
  }

  nearest(rounds) {
    let low = 0;
    let high = this.rounds.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rounds[middle] < rounds) low = middle + 1;
      else high = middle;
    }
    if (low > 0 && rounds - this.rounds[low - 1] < this.rounds[low] - rounds) low -= 1;
    return low;
  }

  sentence() {
    if (!this.chosen.length) return "No run is chosen: tick some in the table.";
    if (!this.lines.length) return this.why(this.board, this.chosen);
    const last = (line) => line.points.at(-1);
    const [best, ...others] = this.ordered(this.lines, (line) => last(line)[1]);
    const said = (line) => `${isolated(line.label)} (${this.write(last(line)[1])})`;
    const when = `${this.counted ? "in" : "after"} ${this.written(last(best)[0])}`;
    if (!others.length) return `The ${this.what} of ${said(best)}, ${when}, is all there is to compare.`;
    const superlative = this.best.startsWith("closest") ? `${this.what} ${this.best}` : `${this.best} ${this.what}`;
    const rest = others.length > 1 ? `; ${said(others.at(-1))} comes last` : "";
    return `Of ${this.lines.length} runs, ${said(best)} has the ${superlative} ${when}, followed by ${said(others[0])}${rest}.`;
  }

  // Rounds worth a column: all of them if they are few, else about one for each doubling.
  milestones(most = 12) {
    if (this.rounds.length <= most) return this.rounds;
    const kept = [];
    for (let wanted = this.rounds.at(-1); wanted >= 1 && kept.length < most; wanted /= 2) {
      kept.unshift(this.rounds[this.nearest(wanted)]);
    }
    return [...new Set(kept)];
  }
}

// A name that cannot turn the sentence around it.
export const isolated = (name) => `\u2068${name}\u2069`;
