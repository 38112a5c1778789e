"""Recomputes the measures of a post-edit board from the ledger with sacreBLEU and numpy, without any of our own code.

    python recompute_post_edit.py ARCHIVE BOARD

ARCHIVE is written by `banditmt admin export --with-texts`, for a phase without held-out passes whose language has no
stop words. BOARD is read only for which phase to compute, and for the rounds of a block. Prints JSON.
"""

import gzip
import json
import sys

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.ter import TER

CORPUS_BLEU = BLEU(tokenize="none")
SENTENCE_BLEU = BLEU(smooth_method="add-k", smooth_value=1, effective_order=True, tokenize="none")
EDIT_RATE = TER()


def read(path, phase):
    """Return the translations of every run of a phase, and the references."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [next(iter(json.loads(line).items())) for line in lines]
    references = [fields["reference"] for kind, fields in records if kind == "text" and fields["phase"] == phase]
    translations: dict[str, list[str]] = {}
    run: dict[str, str] = {}
    for kind, fields in records:
        if kind == "run":  # its rounds follow
            run = fields
            translations.update({run["id"]: []} if run["phase"] == phase else {})
        elif kind == "round" and run["phase"] == phase:
            assert fields["index"] == len(translations[run["id"]])
            translations[run["id"]].append(fields["translation"])
    return translations, references


def recall(translations, references):
    """Return R0, R1 and R0+1 by looking at all earlier references of every word."""
    found, wanted = np.zeros(2), np.zeros(2)
    earlier: list[set[str]] = []
    for translation, reference in zip(translations, references, strict=True):
        words = {word for word in reference.split() if any(letter.isalnum() for letter in word)}
        for word in words:
            repetitions = sum(word in known for known in earlier)
            if repetitions < 2:
                wanted[repetitions] += 1
                found[repetitions] += word in translation.split()
        earlier.append(words)
    return {"r0": found[0] / wanted[0], "r1": found[1] / wanted[1], "r0_1": found.sum() / wanted.sum()}


def percentage_slope(errors):
    """Return the percentage of errors that is left each time the number of blocks doubles."""
    exponent, _ = np.polyfit(np.log10(np.arange(1, len(errors) + 1)), np.log10(errors), 1)
    return float(10 ** (exponent * np.log10(2) + 2))


def measures(translations, references, block):
    """Return all measures of a run that began with these references."""
    sentences = [
        SENTENCE_BLEU.sentence_score(translation, [reference]).score
        for translation, reference in zip(translations, references, strict=True)
    ]
    ends = range(block, len(translations) + 1, block)

    def ter_of(start, end):
        return EDIT_RATE.corpus_score(translations[start:end], [references[start:end]]).score

    unit, cumulative = [ter_of(end - block, end) for end in ends], [ter_of(0, end) for end in ends]
    return {
        "bleu": CORPUS_BLEU.corpus_score(translations, [references]).score,
        "sbleu": float(np.mean(sentences)),
        "ter": ter_of(0, len(translations)),
        **{name: 100 * value for name, value in recall(translations, references).items()},
        "slope": percentage_slope(unit),
        "slope_cumulative": percentage_slope(cumulative),
        "ter_curves": {"unit": unit, "cumulative": cumulative},
        "bleu_curve": [CORPUS_BLEU.corpus_score(translations[:end], [references[:end]]).score for end in ends],
        "r1_curve": [100 * recall(translations[:end], references[:end])["r1"] for end in ends],
    }


def main(archive, board_path):
    with open(board_path, encoding="utf-8") as text:  # noqa: PTH123
        board = json.load(text)
    runs, references = read(archive, board["phase"])
    print(json.dumps({run: measures(mine, references[: len(mine)], board["block"]) for run, mine in runs.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
