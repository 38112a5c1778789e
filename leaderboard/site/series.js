// The data of the charts: a line of points for every selected run, and a sentence about all of them.

import { fourDecimals, hasOracle, isPostEdit, oneDecimal, regretOf, signed, twoDecimals, whole } from "./columns.js";

const MIN_REGRET_ROUNDS = 10; // of a long phase: the noise of earlier means would squeeze the rest of the curve

function curve(value) {
  return (row, board, state) => {
    const first = board.total >= 100 * MIN_REGRET_ROUNDS ? MIN_REGRET_ROUNDS : 1;
    return row.curve.flatMap((reward, index) => {
      const rounds = board.checkpoints[index];
      const point = rounds < first ? null : value(reward, index, rounds, row, board, state);
      return point == null ? [] : [[rounds, point]];
    });
  };
}

// Until a phase closes, the service hides where its passes end: then x is the number of the pass.
const pass = (field) => (row, board) =>
  row.passes.map((each) => [board.held_out.ends[each.held_out_pass] ?? each.held_out_pass + 1, each[field]]);

function regretAt(reward, index, rounds, row, board, state) {
  const run = state.against ?? row.regret?.oracle;
  if (run === undefined || run === row.run || regretOf(row, state.against) == null) return null;
  const oracle = board.rows.find((other) => other.run === run)?.curve[index];
  return oracle === undefined ? null : (oracle - reward) / rounds;
}

// The gain over the baseline so far. Oracles are left out: all other lines would become one.
function gain(row) {
  const isFarAbove = row.role === "oracle" || row.role === "k-best-oracle";
  return row.gain_curve && !isFarAbove ? row.gain_curve.rounds.map((rounds, index) => [rounds, row.gain_curve.values[index]]) : [];
}

// The ends of the interval of a gain at the index of a point.
function gainBand(row, index) {
  const half = row.gain_curve.half_widths[index];
  const value = row.gain_curve.values[index];
  return half == null ? {} : { gain_low: value - half, gain_high: value + half };
}

// The difference of a measure to that of the baseline, at the end of each block of rounds.
const difference = (name) => (row, board) => {
  const baseline = board.rows.find((other) => other.run === row.baseline && other.run !== row.run);
  const theirs = baseline?.adaptation?.curves[name] ?? [];
  return (row.adaptation?.curves[name] ?? []).flatMap((value, index) =>
    value == null || theirs[index] == null ? [] : [[(index + 1) * board.block, value - theirs[index]]],
  );
};

// TER of each block, or of all blocks so far, and the curve that was fitted to it.
const ter = (model) => (row, board) =>
  (row.adaptation?.ter[model].errors ?? []).map((error, index) => [(index + 1) * board.block, error]);

const terCurve = (model) => (row, board, rounds) => {
  const { first, exponent } = row.adaptation.ter[model];
  return first == null ? null : first * (rounds / board.block) ** exponent;
};

// Sentences that explain why a chart is empty.

const NO_DATA_YET = "The selected runs have no data for this chart yet.";

function whyNoRegret(board, selected) {
  if (!board.rows.some((row) => row.role === "oracle")) {
    return board.visible === "own"
      ? "Regret is measured against an oracle. Oracles are hidden until this phase closes."
      : "Regret is measured against an oracle, and this phase has no oracle yet.";
  }
  return selected.every(({ row }) => row.role === "oracle") ? "Oracles have no regret of their own: select other runs, too." : NO_DATA_YET;
}

function whyNoDifference(board, selected) {
  if (!board.rows.some((row) => row.role === "baseline")) {
    return board.visible === "own"
      ? "Differences are measured from a baseline. Baselines are hidden until this phase closes."
      : "Differences are measured from a baseline, and this phase has no baseline yet.";
  }
  return selected.every(({ row }) => row.role === "baseline") ? "Select other runs, too: differences are measured from baselines." : NO_DATA_YET;
}

function whyNoPasses(board) {
  if (board.visible === "own") {
    return "Hidden until this phase closes, because participants must not learn which rounds are held out.";
  }
  const { passes } = board.held_out;
  if (!passes) return "This phase has no held-out passes.";
  if (board.held_out.ends.length) return NO_DATA_YET;
  return `The first of ${passes} held-out passes is shown when a run has played 1/${passes} of its rounds, so that the time does not reveal which rounds are held out.`;
}

function whyNoGain(board, selected) {
  if (!board.rows.some((row) => row.role === "baseline")) {
    return board.visible === "own"
      ? "Gains are measured over a seed model. Baselines are hidden until this phase closes."
      : "Gains are measured over a seed model, and this phase has no baseline yet. The organiser marks one: banditmt admin baseline mark";
  }
  return selected.every(({ row }) => row.role !== "contestant") ? "Select a system that learns: gains are measured over the seed model." : NO_DATA_YET;
}

// Each view has a chart in charts.json; `best` says which values are good, `zero` what a value of 0 is.
const VIEWS = {
  gain: { points: gain, band: gainBand, format: signed(fourDecimals), best: "highest", quantity: "gain over the seed model per round", zero: "seed model", whyEmpty: whyNoGain },
  regret: { points: curve(regretAt), format: fourDecimals, best: "lowest", quantity: "running regret", whyEmpty: whyNoRegret },
  mean_reward: {
    points: curve((reward, _index, rounds) => reward / rounds),
    format: fourDecimals,
    best: "highest",
    quantity: "reward per round",
  },
  reward: { points: curve((reward) => reward), format: oneDecimal, best: "highest", quantity: "cumulative reward" },
  corpus_bleu: {
    points: pass("corpus_bleu"),
    format: oneDecimal,
    best: "highest",
    quantity: "held-out corpus BLEU",
    whyEmpty: whyNoPasses,
  },
  relative_corpus_bleu: {
    points: pass("relative_corpus_bleu"),
    format: signed(oneDecimal),
    best: "highest",
    quantity: "gain in corpus BLEU",
    whyEmpty: whyNoPasses,
  },
  sentence_bleu: {
    points: pass("sentence_bleu"),
    format: oneDecimal,
    best: "highest",
    quantity: "held-out sentence BLEU",
    whyEmpty: whyNoPasses,
  },
  relative_sentence_bleu: {
    points: pass("relative_sentence_bleu"),
    format: signed(oneDecimal),
    best: "highest",
    quantity: "gain in sentence BLEU",
    whyEmpty: whyNoPasses,
  },
  length_ratio: {
    points: pass("length_ratio"),
    format: twoDecimals,
    best: "closest to 1",
    quantity: "length ratio",
    whyEmpty: whyNoPasses,
  },
  ...Object.fromEntries(
    [["r0", "R0"], ["r1", "R1"], ["r0_1", "R0+1"], ["bleu", "BLEU"]].map(([name, label]) => [
      `difference_${name}`,
      {
        points: difference(name),
        format: signed(oneDecimal),
        best: "highest",
        quantity: `difference in ${label}`,
        whyEmpty: whyNoDifference,
      },
    ]),
  ),
  ter: { points: ter("unit"), curve: terCurve("unit"), format: oneDecimal, best: "lowest", quantity: "TER in its last block" },
  incremental_ter: {
    points: ter("cumulative"),
    curve: terCurve("cumulative"),
    format: oneDecimal,
    best: "lowest",
    quantity: "TER so far",
  },
};

const hasPasses = (board) => !isPostEdit(board);

// isShown: whether a board has the chart, if not all have it
export const CHARTS = [
  { id: "gain", title: "Gain over the seed model", wide: true, views: [["gain", ""]] },
  {
    id: "difference",
    title: "Difference from the baseline",
    wide: true,
    views: [["difference_r0_1", "R0+1"], ["difference_r0", "R0"], ["difference_r1", "R1"], ["difference_bleu", "BLEU"]],
    isShown: isPostEdit,
  },
  {
    id: "regret",
    title: "Running regret",
    views: [["regret", ""]],
    isShown: (board) => !isPostEdit(board) || hasOracle(board),
  },
  { id: "ter", title: "TER", views: [["ter", "by block"], ["incremental_ter", "incremental"]], isShown: isPostEdit },
  { id: "reward", title: "Reward", views: [["mean_reward", "per round"], ["reward", "cumulative"]] },
  {
    id: "corpus",
    title: "Held-out corpus BLEU",
    views: [["corpus_bleu", "absolute"], ["relative_corpus_bleu", "gain"]],
    isShown: hasPasses,
  },
  {
    id: "sentence",
    title: "Held-out sentence BLEU",
    views: [["sentence_bleu", "absolute"], ["relative_sentence_bleu", "gain"]],
    isShown: hasPasses,
  },
  { id: "length", title: "Length ratio of held-out passes", wide: true, views: [["length_ratio", ""]], isShown: hasPasses },
];

export class Series {
  // selected: [{row, label, colour}]
  constructor(view, board, selected, state) {
    Object.assign(this, { whyEmpty: () => NO_DATA_YET }, VIEWS[view]);
    this.view = view;
    this.board = board;
    this.selected = selected;
    this.byPass = this.whyEmpty === whyNoPasses && !board.held_out.ends.length; // x is the number of a pass, not of rounds
    const lines = selected.map((each) => ({ ...each, points: this.points(each.row, board, state) }));
    this.lines = lines.filter((line) => line.points.length);
    for (const line of this.lines) line.at = new Map(line.points);
    this.rounds = [...new Set(this.lines.flatMap((line) => line.points.map(([rounds]) => rounds)))].sort((a, b) => a - b);
  }

  // Returns the data set of the chart.
  values() {
    return this.lines.flatMap(({ row, colour, points }) =>
      points.map(([rounds, value], index) => ({
        run: row.run,
        role: row.role,
        color: `var(--${colour})`,
        rounds,
        [this.view]: value,
        ...this.band?.(row, index),
        ...(this.curve && { [`${this.view}_curve`]: this.curve(row, this.board, rounds) }),
      })),
    );
  }

  // Returns a position on the x axis as text.
  position(x) {
    return this.byPass ? `pass ${x}` : `${whole(x)} rounds`;
  }

  // Returns the lines sorted by a value, best first.
  ordered(lines, value) {
    const cost = { lowest: (v) => v, highest: (v) => -v, "closest to 1": (v) => Math.abs(v - 1) }[this.best];
    return [...lines].sort((a, b) => cost(value(a)) - cost(value(b)));
  }

  // Returns [{label, colour, row, text}] of all runs at a number of rounds, best first.
  at(rounds) {
    const known = this.lines.filter((line) => line.at.has(rounds));
    return this.ordered(known, (line) => line.at.get(rounds)).map((line) => ({
      ...line,
      text: this.format(line.at.get(rounds)),
    }));
  }

  // Returns the index of the nearest number of rounds with data.
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

  // Returns a sentence that describes the chart.
  sentence() {
    if (!this.selected.length) return "No runs are selected. Select some in the table.";
    if (!this.lines.length) return this.whyEmpty(this.board, this.selected);
    const last = (line) => line.points.at(-1);
    const [best, ...others] = this.ordered(this.lines, (line) => last(line)[1]);
    const describe = (line) => `${isolated(line.label)} (${this.format(last(line)[1])})`;
    const when = `${this.byPass ? "in" : "after"} ${this.position(last(best)[0])}`;
    if (!others.length) return `The ${this.quantity} of ${isolated(best.label)} is ${this.format(last(best)[1])} ${when}.`;
    const superlative = this.best.startsWith("closest") ? `${this.quantity} ${this.best}` : `${this.best} ${this.quantity}`;
    const rest = others.length > 1 ? `; ${describe(others.at(-1))} comes last` : "";
    return `Of ${this.lines.length} runs, ${describe(best)} has the ${superlative} ${when}, followed by ${describe(others[0])}${rest}.`;
  }

  // Returns the rounds for the columns of a table: all if they are few, else about one for each doubling.
  milestones(max = 12) {
    if (this.rounds.length <= max) return this.rounds;
    const kept = [];
    for (let wanted = this.rounds.at(-1); wanted >= 1 && kept.length < max; wanted /= 2) {
      kept.unshift(this.rounds[this.nearest(wanted)]);
    }
    return [...new Set(kept)];
  }
}

// Isolates a name, so that right-to-left text does not reverse the sentence around it.
export const isolated = (name) => `\u2068${name}\u2069`;
