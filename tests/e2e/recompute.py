"""Recomputes the leaderboard's numbers from the ledger with sacreBLEU and numpy, without any of our own code.

    python recompute.py ARCHIVE BOARD

ARCHIVE is written by `banditmt admin export --with-texts`. BOARD is read only for what to compute (which runs, which
oracles, after how many rounds, where held-out passes end), never for the numbers themselves. Prints JSON.
"""

import gzip
import json
import sys

import numpy as np
from sacrebleu.metrics.bleu import BLEU

SENTENCE = BLEU(smooth_method="floor", smooth_value=0.01, effective_order=True, tokenize="none")
CORPUS = BLEU(tokenize="none")


def sentence_bleu(translation, reference):
    found = SENTENCE.sentence_score(translation, [reference])
    if found.counts[0]:
        return found.score / 100
    # where no word matches, sacreBLEU gives 0, but the task smooths this case, too
    totals = np.array([total for total in found.totals if total], dtype=float)
    return float(np.exp(np.log(0.01 / totals).mean() + min(0.0, 1 - found.ref_len / found.sys_len)))


def read_rounds(path, phase):
    """Return the rounds of every run of a phase, with the references of their sentences."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [next(iter(json.loads(line).items())) for line in lines]
    _, block, gap = next(fields["layout"] for kind, fields in records if kind == "phase" and fields["name"] == phase)
    references = [fields["reference"] for kind, fields in records if kind == "text" and fields["phase"] == phase]
    rounds: dict[str, list] = {}
    run: dict[str, str] = {}
    for kind, fields in records:
        if kind == "run":  # its rounds follow
            run = fields
            rounds.update({run["id"]: []} if run["phase"] == phase else {})
        elif kind == "round" and run["phase"] == phase:
            passed, offset = divmod(fields["index"], block + gap)  # the held-out block is served again before every gap
            reference = references[offset if offset < block else offset + passed * gap]
            rounds[run["id"]].append({**fields, "reference": reference})
    for played in rounds.values():
        assert [each["index"] for each in played] == list(range(len(played)))
    return rounds


def interval(values, block, seed):
    """Return the interval of the mean, by a block bootstrap."""
    rng = np.random.default_rng(seed)
    blocks = [values[start : start + block] for start in range(0, len(values), block)]
    sums, sizes = np.array([part.sum() for part in blocks]), np.array([len(part) for part in blocks])
    drawn = rng.integers(0, len(blocks), size=(20_000, len(blocks)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return np.quantile(means, [0.025, 0.975]).tolist()


def passes(run, scores, held_out):
    found: list[dict] = []
    for number, end in enumerate(held_out["ends"]):
        if end > len(run):
            break
        part = run[end - held_out["size"] : end]
        corpus = CORPUS.corpus_score([each["translation"] for each in part], [[each["reference"] for each in part]])
        sentence = 100 * float(scores[end - held_out["size"] : end].mean())
        first = found[0] if found else {"corpus_bleu": corpus.score, "sentence_bleu": sentence}
        found.append(
            {
                "held_out_pass": number,
                "corpus_bleu": corpus.score,
                "sentence_bleu": sentence,
                "relative_corpus_bleu": corpus.score - first["corpus_bleu"],
                "relative_sentence_bleu": sentence - first["sentence_bleu"],
                "length_ratio": corpus.sys_len / corpus.ref_len,
            }
        )
    return found


def quality(run, scores):
    """Return how the rounds of a part of a run were translated."""
    hypotheses, references = [each["translation"] for each in run], [each["reference"] for each in run]
    corpus = CORPUS.corpus_score(hypotheses, [references])
    longer = [len(words.split()) for words, gold in zip(hypotheses, references, strict=True) if len(gold.split()) > 1]
    return {
        "rounds": len(run),
        "mean_reward": float(scores.mean()),
        "corpus_bleu": corpus.score,
        "length_ratio": corpus.sys_len / corpus.ref_len,
        "single_words": longer.count(1) / len(longer),
    }


def main(archive, board_path):
    with open(board_path, encoding="utf-8") as text:  # noqa: PTH123
        board = json.load(text)
    rounds = read_rounds(archive, board["phase"])
    scores = {
        run: np.array([sentence_bleu(each["translation"], each["reference"]) for each in played])
        for run, played in rounds.items()
    }
    sums = {run: np.cumsum(values) for run, values in scores.items()}
    block = -(-board["total"] // 200)
    oracles = [row["run"] for row in board["rows"] if row["role"] == "oracle"]
    baselines = {row["family"]: row["run"] for row in board["rows"] if row["role"] == "baseline"}
    quarter = 3 * board["total"] // 4
    answers = {}
    for row in board["rows"]:
        run = row["run"]
        played, mine, count = rounds[run], scores[run], len(rounds[run])
        oracle, k = row["regret"]["oracle"], row["regret"]["rounds"]
        against = {each: float(sums[each][k - 1] - sums[run][k - 1]) / k for each in oracles}
        top, bottom = sums[oracle][k - 1], sums[baselines[row["family"]]][k - 1]
        ours = sum(len(each["translation"].split()) for each in played)
        theirs = sum(len(each["reference"].split()) for each in played)
        bottom_sums = sums[row["baseline"]]
        answers[run] = {
            "all": quality(played, mine),
            "last_quarter": quality(played[quarter:], mine[quarter:]) if count > quarter else None,
            "reward_gain": float(sums[run][k - 1] - bottom_sums[k - 1]) / k,
            "rounds": count,
            "reward": float(sums[run][-1]),
            "mean_reward": float(mine.mean()),
            "interval": interval(mine, block, 1),
            "regret": against[oracle],
            "regret_interval": interval(scores[oracle][:count] - mine, block, 2),
            "regrets": against,
            "gap_closed": float((sums[run][k - 1] - bottom) / (top - bottom)),
            "passes": passes(played, mine, board["held_out"]),
            "length_ratio": ours / theirs,
            "curve": [float(sums[run][k - 1]) for k in board["checkpoints"] if k <= count],
        }
    order = sorted(
        (row["run"] for row in board["rows"] if row["role"] == "contestant" and row["status"] == "finished"),
        key=lambda run: -answers[run]["reward"],
    )
    print(json.dumps({"runs": answers, "order": order}))


if __name__ == "__main__":
    main(*sys.argv[1:])
