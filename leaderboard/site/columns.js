// The columns of the table: how to read, format and compare the values of a run.

const withDigits = (digits) => {
  const format = new Intl.NumberFormat("en", {
    minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: "negative", // never -0
  });
  return (value) => (value == null ? "–" : format.format(value).replace("-", "−"));
};

export const whole = withDigits(0);
export const oneDecimal = withDigits(1);
export const twoDecimals = withDigits(2);
export const fourDecimals = withDigits(4);
export const percent = (value) => (value == null ? "–" : `${whole(100 * value)} %`);
export const percentWithDecimal = (value) => (value == null ? "–" : `${oneDecimal(100 * value)} %`);
export const signed = (format) => (value) => {
  const text = format(value);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
};

// What chance an interval covers, in words.
const COVERAGE = { sentences: "chance in sentences", seeds: "chance in seeds", both: "chance in sentences and in seeds" };
export const coverage = (covers) => (covers ? `95 % interval; it covers ${COVERAGE[covers]}` : "");

// Returns the number of a seed: the end of its name, or 1.
export const seedOf = (row) => Number(/\.s(\d+)$/.exec(row.system)?.[1] ?? 1);

export const letter = (group) => (group != null && group <= 26 ? String.fromCharCode(96 + group) : "");
const lastPass = (row) => row.passes.at(-1);

const CLOCK = { hour: "2-digit", minute: "2-digit" };

export const dateAndTime = (time) => new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

function shortTime(time) {
  if (time == null) return "–";
  const date = new Date(time);
  const today = new Date().toDateString() === date.toDateString();
  return date.toLocaleString("en-GB", today ? CLOCK : { day: "numeric", month: "short", ...CLOCK });
}

// Returns the regret against the selected oracle, or against the oracle of the run's family.
export const regretOf = (row, oracle) => (oracle ? row.regrets[oracle] : row.regret?.value);

export function plusMinus(interval, format = fourDecimals) {
  return interval ? `±${format((interval[1] - interval[0]) / 2)}` : "";
}

export const isPostEdit = (board) => board.feedback === "post-edit";
export const hasOracle = (board) => board.rows.some((row) => row.role === "oracle");
const hasGain = (board) => board.rows.some((row) => row.reward_gain);
const hasFullInformation = (board) => board.rows.some((row) => row.role === "full-information");

// Returns a sentence about a run that earned more with lower corpus BLEU, or nothing for other runs.
export function warning(row, names) {
  const difference = row.last_quarter?.difference;
  if (!difference?.reward_up_bleu_down) return "";
  const bleu = signed(oneDecimal);
  const [low, high] = difference.interval.map(bleu);
  const baseline = names.get(difference.baseline) ?? "its baseline";
  return `In the last quarter of the rounds, it earned ${signed(fourDecimals)(difference.reward)} per round compared with ${baseline}, but ${bleu(difference.corpus_bleu)} BLEU (${low} to ${high})`;
}

// isShown: whether a board has the column, if not all have it
// better: "higher", "lower", or undefined if neither is better
const COLUMNS = [
  {
    key: "rank",
    label: "#",
    title: "Rank by cumulative reward; runs with the same letter do not differ significantly from the best of them",
    value: (row, state) => state.places.get(row.run), // runs for comparison have a place, but no rank
    format: (row) => (row.rank == null ? "" : `${row.rank}`),
    note: (row) => letter(row.group),
  },
  { key: "system", label: "System", text: true, value: (row) => row.system.toLowerCase() },
  {
    key: "mean_reward",
    label: "Mean reward",
    title: "Reward per round, from 0 to 1",
    better: "higher",
    value: (row) => row.mean_reward,
    format: (row) => fourDecimals(row.mean_reward),
    note: (row) => plusMinus(row.interval),
    covers: (row) => row.interval_covers,
    drawn: true,
  },
  {
    key: "reward_gain",
    isShown: hasGain,
    label: "Gain",
    title: "Mean reward minus that of the seed model: the baseline of the family, or else the best of all baselines",
    better: "higher",
    value: (row) => row.reward_gain?.value,
    format: (row) => signed(fourDecimals)(row.reward_gain?.value),
    note: (row) => plusMinus(row.reward_gain?.interval),
    covers: (row) => row.reward_gain?.covers,
  },
  {
    key: "gap_closed",
    isShown: (board) => !isPostEdit(board) || hasOracle(board),
    label: "Gap closed",
    title: "Share of the gap between the family's baseline and its oracle",
    better: "higher",
    value: (row) => row.gap_closed,
    format: (row) => percentWithDecimal(row.gap_closed),
  },
  {
    key: "late_bleu",
    label: "Late BLEU",
    title: "Corpus BLEU in the last quarter of the rounds, once a run gets there",
    better: "higher",
    value: (row) => row.last_quarter?.corpus_bleu,
    format: (row) => oneDecimal(row.last_quarter?.corpus_bleu),
  },
  {
    key: "regret",
    isShown: (board) => !isPostEdit(board) || hasOracle(board),
    label: "Regret",
    title: "How much more reward per round the oracle earned",
    better: "lower",
    value: (row, state) => regretOf(row, state.against),
    format: (row, state) => fourDecimals(regretOf(row, state.against)),
    note: (row, state) => (state.against || row.role === "oracle" ? "" : plusMinus(row.regret?.interval)),
    covers: (row) => row.regret?.covers,
  },
  {
    key: "full_information_share",
    isShown: hasFullInformation,
    label: "Of full info.",
    title: "Gain as a share of what the full-information run of the family gained: it sees the reference after each round",
    better: "higher",
    value: (row) => row.full_information_share,
    format: (row) => percentWithDecimal(row.full_information_share),
  },
  {
    key: "reward",
    label: "Reward",
    title: "Cumulative reward",
    better: "higher",
    value: (row) => row.reward,
    format: (row) => oneDecimal(row.reward),
  },
  {
    key: "length_ratio",
    label: "Length",
    title: "Proposed words per reference word",
    value: (row) => row.length_ratio,
    format: (row) => twoDecimals(row.length_ratio),
  },
  {
    key: "late_length_ratio",
    label: "Late length",
    title: "Proposed words per reference word in the last quarter of the rounds, once a run gets there",
    value: (row) => row.last_quarter?.length_ratio,
    format: (row) => twoDecimals(row.last_quarter?.length_ratio),
  },
  {
    key: "single_words",
    label: "One word",
    title: "Share of references of two or more words that were answered with one: sentence BLEU rewards single words most",
    better: "lower",
    value: (row) => row.single_words,
    format: (row) => percentWithDecimal(row.single_words),
  },
  {
    key: "corpus_bleu",
    isShown: (board) => !isPostEdit(board),
    label: "Held-out BLEU",
    title: "Corpus BLEU of the last held-out pass",
    better: "higher",
    value: (row) => lastPass(row)?.corpus_bleu,
    format: (row) => oneDecimal(lastPass(row)?.corpus_bleu),
  },
  {
    key: "gain",
    isShown: (board) => !isPostEdit(board),
    label: "Held-out gain",
    title: "Corpus BLEU of the last held-out pass minus that of the first",
    better: "higher",
    value: (row) => lastPass(row)?.relative_corpus_bleu,
    format: (row) => signed(oneDecimal)(lastPass(row)?.relative_corpus_bleu),
  },
  {
    key: "progress",
    label: "Rounds",
    title: "Rounds played",
    better: "higher",
    value: (row) => row.rounds,
    format: (row) => whole(row.rounds),
  },
  {
    key: "speed",
    label: "Per second",
    title: "Rounds per second",
    better: "higher",
    value: (row) => row.speed,
    format: (row) => oneDecimal(row.speed),
  },
  {
    key: "last_at",
    label: "Last round",
    title: "When the last round was played",
    value: (row) => row.last_at,
    format: (row) => shortTime(row.last_at),
  },
];

const measureColumn = ({ name, label, meaning, better }) => ({
  key: name,
  label,
  title: meaning,
  better,
  value: (row) => row.measures?.[name]?.value,
  format: (row) => oneDecimal(row.measures?.[name]?.value),
  note: (row) => plusMinus(row.measures?.[name]?.interval, oneDecimal),
  covers: (row) => row.measures?.[name]?.covers,
});

// Returns the columns of a board, with its measures beside the mean reward; only S of a bandit phase comes last.
export function columnsOf(board) {
  const columns = COLUMNS.filter((column) => !column.isShown || column.isShown(board));
  for (const measure of board.measures ?? []) {
    const next = isPostEdit(board) || measure.name === "bleu" ? "late_bleu" : "progress";
    columns.splice(columns.findIndex((column) => column.key === next), 0, measureColumn(measure));
  }
  return columns;
}

// Returns a label for every run: its system, with participant and attempt where they are needed to be unique.
export function labels(rows) {
  const count = (keys) => {
    const counts = new Map();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  };
  const owner = (row) => JSON.stringify([row.system, row.participant]);
  const systems = count(rows.map((row) => row.system));
  const owners = count(rows.map(owner));
  return new Map(
    rows.map((row) => {
      const name = systems.get(row.system) === 1 ? row.system : `${row.system} (${row.participant})`;
      return [row.run, owners.get(owner(row)) === 1 ? name : `${name} #${row.attempt}`];
    }),
  );
}

// Returns the runs sorted by a column; runs without a value come last in either direction.
export function sorted(rows, { value }, descending, state) {
  const factor = descending ? -1 : 1;
  return [...rows].sort((first, second) => {
    const [a, b] = [value(first, state), value(second, state)];
    if (a == null || b == null) return (a == null) - (b == null);
    return factor * (a < b ? -1 : a > b ? 1 : 0);
  });
}
