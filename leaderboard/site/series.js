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

// Until a phase is closed the service does not tell where its passes end, so there is no place on the axis for them.
const pass = (field) => (row, board) =>
  row.passes.flatMap((each) => {
    const end = board.held_out?.ends?.[each.held_out_pass];
    return end == null ? [] : [[end, each[field]]];
  });

function regretAt(reward, place, rounds, row, board, state) {
  const run = state.against ?? row.regret?.oracle;
  if (run === undefined || run === row.run || regretOf(row, state.against) == null) return null;
  const oracle = board.rows.find((other) => other.run === run)?.curve[place];
  return oracle === undefined ? null : (oracle - reward) / rounds;
}

// Each view is one of the charts that the server describes; best tells which end of the scale is good.
const VIEWS = {
  regret: { points: curve(regretAt), write: four, best: "lowest", what: "running regret" },
  mean_reward: {
    points: curve((reward, _place, rounds) => reward / rounds),
    write: four,
    best: "highest",
    what: "reward per round",
  },
  reward: { points: curve((reward) => reward), write: one, best: "highest", what: "cumulative reward" },
  corpus_bleu: { points: pass("corpus_bleu"), write: one, best: "highest", what: "held-out corpus BLEU" },
  relative_corpus_bleu: {
    points: pass("relative_corpus_bleu"),
    write: signed(one),
    best: "highest",
    what: "gain in corpus BLEU",
  },
  sentence_bleu: { points: pass("sentence_bleu"), write: one, best: "highest", what: "held-out sentence BLEU" },
  relative_sentence_bleu: {
    points: pass("relative_sentence_bleu"),
    write: signed(one),
    best: "highest",
    what: "gain in sentence BLEU",
  },
  length_ratio: { points: pass("length_ratio"), write: two, best: "closest to 1", what: "length ratio" },
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
    Object.assign(this, VIEWS[view]);
    this.view = view;
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
    if (!this.lines.length) return "None of the chosen runs has anything to show here yet.";
    const last = (line) => line.points.at(-1);
    const [best, ...others] = this.ordered(this.lines, (line) => last(line)[1]);
    const said = (line) => `${isolated(line.label)} (${this.write(last(line)[1])})`;
    const rounds = whole(last(best)[0]);
    if (!others.length) return `After ${rounds} rounds, the ${this.what} of ${said(best)} is all there is to compare.`;
    const superlative = this.best.startsWith("closest") ? `${this.what} ${this.best}` : `${this.best} ${this.what}`;
    const rest = others.length > 1 ? `; ${said(others.at(-1))} comes last` : "";
    return `Of ${this.lines.length} runs, ${said(best)} has the ${superlative} after ${rounds} rounds, followed by ${said(others[0])}${rest}.`;
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
