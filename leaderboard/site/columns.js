// What the table shows of a run: how each value is read, written and compared.

const withDigits = (digits) => {
  const format = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return (value) => (value == null ? "–" : format.format(value).replace("-", "−"));
};

export const whole = withDigits(0);
export const one = withDigits(1);
export const two = withDigits(2);
export const four = withDigits(4);
export const percent = (value) => (value == null ? "–" : `${whole(100 * value)} %`);
export const signed = (write) => (value) => (value > 0 ? `+${write(value)}` : write(value));

const letter = (group) => (group != null && group <= 26 ? String.fromCharCode(96 + group) : "");
const lastPass = (row) => row.passes.at(-1);

const CLOCK = { hour: "2-digit", minute: "2-digit" };

export const dateAndTime = (time) => new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

function when(time) {
  if (time == null) return "–";
  const date = new Date(time);
  const today = new Date().toDateString() === date.toDateString();
  return date.toLocaleString("en-GB", today ? CLOCK : { day: "numeric", month: "short", ...CLOCK });
}

// Regret against the chosen oracle, or else against the oracle of the run's family.
export const regretOf = (row, oracle) => (oracle ? row.regrets[oracle] : row.regret?.value);

function half(interval) {
  return interval ? `±${four((interval[1] - interval[0]) / 2)}` : "";
}

// better: "more" or "less", or nothing where neither is; first: which way the first click sorts when nothing is better
export const COLUMNS = [
  {
    key: "rank",
    label: "#",
    title: "Rank by cumulative reward; runs with the same letter do not differ significantly",
    better: "less",
    value: (row) => row.rank,
    write: (row) => (row.rank == null ? "" : `${row.rank}`),
    note: (row) => letter(row.group),
  },
  { key: "system", label: "System", text: true, value: (row) => row.system.toLowerCase() },
  {
    key: "mean_reward",
    label: "Mean reward",
    title: "Reward per round, from 0 to 1",
    better: "more",
    value: (row) => row.mean_reward,
    write: (row) => four(row.mean_reward),
    note: (row) => half(row.interval),
  },
  {
    key: "regret",
    label: "Regret",
    title: "What the oracle earned more, per round",
    better: "less",
    value: (row, state) => regretOf(row, state.against),
    write: (row, state) => four(regretOf(row, state.against)),
    note: (row, state) => (state.against || row.role === "oracle" ? "" : half(row.regret?.interval)),
  },
  {
    key: "gap_closed",
    label: "Gap closed",
    title: "Share of the way from the family's baseline to its oracle",
    better: "more",
    value: (row) => row.gap_closed,
    write: (row) => percent(row.gap_closed),
  },
  {
    key: "reward",
    label: "Reward",
    title: "Cumulative reward",
    better: "more",
    value: (row) => row.reward,
    write: (row) => one(row.reward),
  },
  {
    key: "corpus_bleu",
    label: "BLEU",
    title: "Corpus BLEU of the last held-out pass",
    better: "more",
    value: (row) => lastPass(row)?.corpus_bleu,
    write: (row) => one(lastPass(row)?.corpus_bleu),
  },
  {
    key: "gain",
    label: "Gain",
    title: "Corpus BLEU of the last held-out pass over the first",
    better: "more",
    value: (row) => lastPass(row)?.relative_corpus_bleu,
    write: (row) => signed(one)(lastPass(row)?.relative_corpus_bleu),
  },
  {
    key: "length_ratio",
    label: "Length",
    title: "Tokens proposed per token of the references",
    value: (row) => row.length_ratio,
    write: (row) => two(row.length_ratio),
  },
  {
    key: "progress",
    label: "Rounds",
    title: "Rounds played",
    better: "more",
    value: (row) => row.rounds,
    write: (row) => whole(row.rounds),
  },
  {
    key: "speed",
    label: "Per second",
    title: "Rounds per second",
    better: "more",
    value: (row) => row.speed,
    write: (row) => one(row.speed),
  },
  {
    key: "last_at",
    label: "Last round",
    title: "When its last round was played",
    value: (row) => row.last_at,
    write: (row) => when(row.last_at),
  },
];

export const columnOf = (key) => COLUMNS.find((column) => column.key === key);

// A name for every run: its system, and as much more as it takes to tell them apart.
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

// Sorts runs by a column; what has no value comes last whichever way.
export function sorted(rows, { key, descending }, state) {
  const { value } = columnOf(key);
  const factor = descending ? -1 : 1;
  return [...rows].sort((first, second) => {
    const [a, b] = [value(first, state), value(second, state)];
    if (a == null || b == null) return (a == null) - (b == null);
    return factor * (a < b ? -1 : a > b ? 1 : 0);
  });
}
