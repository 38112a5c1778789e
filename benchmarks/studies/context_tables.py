"""The tables of the study of context, beside those of Voita et al. 2019, and which of its findings hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

BASELINE = "CONTEXT-static"
CADEC_NAMES = {p: f"CONTEXT-cadec, p = {p:g}" for p in (0.0, 0.25, 0.5, 0.75)}
BANDITS = {  # learners from rewards, and the models that they start from
    "CONTEXT-concat-EL-VALUE": "CONTEXT-concat",
    "CONTEXT-cadec-EL-VALUE": CADEC_NAMES[0.5],
}
DISTANCES = ("1", "2", "3")
NO_VALUE = "-"
# Of the paper, by system: BLEU (Table 6); deixis, then lexical cohesion, in total and by distance (Table 7); ellipsis
# of inflection and of verb phrases (Table 8).
PUBLISHED: Mapping[str, tuple[float, Sequence[float], Sequence[float], float, float]] = {
    BASELINE: (32.40, (50.0, 50.0, 50.0, 50.0), (45.9, 46.1, 45.9, 45.4), 53.0, 28.4),
    "CONTEXT-concat": (31.56, (83.5, 88.8, 85.6, 76.4), (47.5, 48.6, 46.7, 46.7), 76.2, 76.6),
    "CONTEXT-s-hier-to-2.tied": (26.68, (60.9, 83.0, 50.1, 50.0), (48.9, 53.0, 46.1, 45.4), 66.4, 65.6),
    CADEC_NAMES[0.5]: (32.38, (81.6, 84.6, 84.4, 75.9), (58.1, 63.2, 52.0, 56.7), 72.2, 80.0),
}
# Table 9, by p: BLEU, deixis, lexical cohesion, ellipsis of inflection and of verb phrases.
PUBLISHED_SHARES = {
    0.0: (32.34, 84.1, 48.7, 65.0, 75.0),
    0.25: (32.31, 83.3, 52.4, 67.0, 78.0),
    0.5: (32.38, 81.6, 58.1, 72.0, 80.0),
    0.75: (32.45, 80.0, 65.0, 70.0, 80.0),
}
DEIXIS, COHESION, INFLECTION, VERB = "deixis_test", "lex_cohesion_test", "ellipsis_infl", "ellipsis_vp"
FAR = 10.0  # points: what "far above" means here


@dataclass(frozen=True)
class Measured:
    """What a model of one seed achieves."""

    bleu: float
    right: Mapping[str, Mapping[str, Sequence[int]]]  # by set and distance: groups that are right, and all groups

    def accuracy(self, name: str, distance: str | None = None) -> float | None:
        """Return the accuracy on a set in percent, in total or at a distance; None without such groups."""
        counts = [count for key, count in self.right[name].items() if distance in (None, key)]
        total = sum(count[1] for count in counts)
        return 100 * sum(count[0] for count in counts) / total if total else None


Seeds = Sequence[Mapping[str, Measured]]  # for each seed, by system


def report(seeds: Seeds, size: str) -> str:
    """Return all tables as Markdown; ``size`` describes the study."""
    main = list(PUBLISHED)
    lines = [
        f"Size of this study: {size}. Each cell has the mean of the seeds, their standard deviation where there are "
        "several, and in brackets the paper's value, which is of English-Russian subtitles.",
        "",
        "Table 6, BLEU, and Table 8, ellipsis:",
        "",
        *_table(
            ["system", "BLEU", "ellipsis, inflection", "ellipsis, verb phrase"],
            [
                [
                    name,
                    _cell([one[name].bleu for one in seeds], PUBLISHED[name][0]),
                    _cell(_accuracies(seeds, name, INFLECTION), PUBLISHED[name][3]),
                    _cell(_accuracies(seeds, name, VERB), PUBLISHED[name][4]),
                ]
                for name in main
            ],
        ),
    ]
    for title, test, column in (("deixis", DEIXIS, 1), ("lexical cohesion", COHESION, 2)):
        rows = []
        for name in main:
            paper = PUBLISHED[name][1] if column == 1 else PUBLISHED[name][2]
            keys = (None, *DISTANCES)
            cells = [_cell(_accuracies(seeds, name, test, key), value) for key, value in zip(keys, paper, strict=True)]
            rows.append([name, *cells])
        heading = ["system", "total", *(f"distance {distance}" for distance in DISTANCES)]
        lines += ["", f"Table 7, {title}:", "", *_table(heading, rows)]
    rows = [
        [f"{p:g}", _cell([one[name].bleu for one in seeds], PUBLISHED_SHARES[p][0])]
        + [
            _cell(_accuracies(seeds, name, test), value)
            for test, value in zip((DEIXIS, COHESION, INFLECTION, VERB), PUBLISHED_SHARES[p][1:], strict=True)
        ]
        for p, name in CADEC_NAMES.items()
    ]
    heading = ["p", "BLEU", "deixis", "lexical cohesion", "ellipsis, inflection", "ellipsis, verb phrase"]
    lines += ["", "Table 9, CADec by the share p of drafts that are corrupted references:", "", *_table(heading, rows)]
    lines += ["", "Findings of the paper, and how many of the seeds have them:", ""]
    lines += [f"- {text}: {sum(held)} of {len(held)}" for text, held in findings(seeds).items()]
    lines += ["", *_bandit_table(seeds)]
    return "\n".join(lines)


def _bandit_table(seeds: Seeds) -> list[str]:
    """Return what learning from the rewards of single sentences changes, which the paper did not ask."""
    tests = (DEIXIS, COHESION, INFLECTION, VERB)
    rows = []
    for learner, start in BANDITS.items():
        for name in (start, learner):
            columns = [[one[name].bleu for one in seeds], *(_accuracies(seeds, name, test) for test in tests)]
            rows.append([name, *(_cell(values) for values in columns)])
    heading = ["system", "BLEU", "deixis", "lexical cohesion", "ellipsis, inflection", "ellipsis, verb phrase"]
    return [
        "Before and after learning from the rewards of single sentences:",
        "",
        *_table(heading, rows),
        "",
        *(f"- {text}: {sum(held)} of {len(held)}" for text, held in bandit_findings(seeds).items()),
    ]


def bandit_findings(seeds: Seeds) -> dict[str, list[bool]]:
    """Return for each learner and seed whether rewards raised BLEU, and whether they lowered consistency."""
    tests = (DEIXIS, COHESION, INFLECTION, VERB)
    found = {}
    for learner, start in BANDITS.items():
        found[f"rewards raise the BLEU of {start}"] = [one[learner].bleu > one[start].bleu for one in seeds]
        found[f"rewards lower the mean accuracy of {start}"] = [
            sum(_known(one[learner], test) - _known(one[start], test) for test in tests) < 0 for one in seeds
        ]
    return found


def findings(seeds: Seeds) -> dict[str, list[bool]]:
    """Return the paper's findings, and for each seed whether it has them."""
    cadec, least, most = CADEC_NAMES[0.5], CADEC_NAMES[0.0], CADEC_NAMES[0.75]

    def above(name: str, other: str, tests: Sequence[str], points: float = 0.0) -> list[bool]:
        return [all(_known(one[name], test) > _known(one[other], test) + points for test in tests) for one in seeds]

    needed = (DEIXIS, INFLECTION, VERB)
    far = f"is more than {FAR:g} points above the model without context on deixis and both kinds of ellipsis"
    return {
        "the model without context is right on half of deixis": [
            _known(one[BASELINE], DEIXIS) == 50.0 for one in seeds
        ],
        f"concat {far}": above("CONTEXT-concat", BASELINE, needed, FAR),
        f"CADec {far}": above(cadec, BASELINE, needed, FAR),
        "CADec is above concat on lexical cohesion": above(cadec, "CONTEXT-concat", [COHESION]),
        "CADec's BLEU is within one point of that of the model without context": [
            abs(one[cadec].bleu - one[BASELINE].bleu) <= 1 for one in seeds
        ],
        "lexical cohesion is higher with p = 0.75 than with p = 0": above(most, least, [COHESION]),
        "deixis is lower with p = 0.75 than with p = 0": above(least, most, [DEIXIS]),
    }


def _known(measured: Measured, test: str) -> float:
    found = measured.accuracy(test)
    assert found is not None, f"{test} has no groups"
    return found


def _accuracies(seeds: Seeds, name: str, test: str, distance: str | None = None) -> list[float]:
    found = (one[name].accuracy(test, distance) for one in seeds)
    return [value for value in found if value is not None]


def _cell(values: Sequence[float], published: float | None = None) -> str:
    beside = "" if published is None else f" ({published:.1f})"
    if not values:
        return f"{NO_VALUE}{beside}"
    spread = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
    return f"{mean(values):.1f}{spread}{beside}"


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rulers = ["---", *["---:"] * (len(heading) - 1)]
    return ["| " + " | ".join(row) + " |" for row in (heading, rulers, *rows)]
