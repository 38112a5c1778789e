"""Sample leaderboards of invented participants, computed from invented rounds by the same code as real ones.

``dev_board()`` is a dev phase in progress: finished runs, a running one, an abandoned one, oracles, baselines.
``post_edit_board()`` is a phase that shows post-edits, without an oracle.
``marked_board()`` has a run that earns more while corpus BLEU falls.
``hostile_board()`` has names that could break a page, though the service accepts no such names. ``crowded_board()``
has any number of runs, ``empty_board()`` none. ``python -m tests.leaderboard.boards`` prints the first as JSON.
"""

import json
import random
from functools import cache

from leaderboard.families import Role, RoleKind
from leaderboard.metrics.bleu import count_ngram_matches, sentence_score
from leaderboard.metrics.post_edit import post_edit_statistics
from leaderboard.metrics.recall import ConfirmedWords, any_word
from leaderboard.profiles import Profiles, SystemProfile, TeamProfile
from leaderboard.rows import BoardPhase, HeldOutBlock
from leaderboard.summaries import RunIdentity, Summary
from leaderboard.table import make_board
from task.feedback import SENTENCE_BLEU
from task.layout import Layout
from task.rounds import RoundResult

NOW = 1_767_225_600_000  # the first second of 2026
DAY = 24 * 3600 * 1000

LAYOUT = Layout(blocks=4, block=70, gap=1_240)  # dev at a tenth of its size
TOTAL = 4_000
POST_EDIT_TOTAL = 1_000
MARKED_TOTAL = 400  # blocks of two rounds; the last quarter begins after 300

HOSTILE_NAMES = [
    "<script>alert('x')</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202etfel-ot-thgir",  # right-to-left override
    "نظام-الترجمة",
    "🦄🚀-learner",
    "=HYPERLINK(0)",
    "long-" * 100,
    "a\\&b_c%d$e#f{g}~h^i",
]


def dev_phase(state="open", **changes):
    fields = {"name": "dev", "state": state, "total": TOTAL, "held_out": HeldOutBlock.of(LAYOUT)}
    return BoardPhase(**{**fields, "signature": SENTENCE_BLEU.signature, **changes})


@cache
def references():
    """Return the references of a post-edit phase, and the content words of each that are new or occurred once."""
    rng = random.Random(99)
    words = [f"w{number}" for number in range(2_000)]
    confirmed = ConfirmedWords(any_word)
    texts = [" ".join(rng.choices(words[: 20 + number], k=rng.randint(2, 12))) for number in range(POST_EDIT_TOTAL)]
    return [(text, confirmed.add(text)) for text in texts]


def post_edit_rounds(count, *, start, end=None, memory=0.0, seed=0, begun=NOW - DAY, pace=200):
    """Yield rounds of a post-edit phase, whose share of right words rises from ``start`` to ``end``.

    A word that an earlier reference has is right more often, by the share ``memory``.
    """
    rng = random.Random(seed)
    end = start if end is None else end
    for position, (reference, wanted) in enumerate(references()[:count]):
        quality = start + (end - start) * position / POST_EDIT_TOTAL
        new = set(wanted[0])
        words = [
            word if rng.random() < quality + (word not in new) * memory * (1 - quality) else "?"
            for word in reference.split()
        ]
        counts, packed = post_edit_statistics(" ".join(words), reference, wanted)
        yield RoundResult(position, sentence_score(counts), packed, begun + pace * position)


@cache
def outcomes(tenths):
    """Return rewards and packed statistics of translations with this many tenths of the words right."""
    rng = random.Random(tenths)
    words = [f"w{number}" for number in range(50)]
    found = []
    for _ in range(200):
        reference = rng.choices(words, k=rng.randint(2, 12))
        candidate = [word if rng.random() < tenths / 10 else "?" for word in reference]
        counts = count_ngram_matches(" ".join(candidate), " ".join(reference))
        found.append((sentence_score(counts), counts.to_bytes()))
    return found


def random_rounds(count, *, start, end=None, seed=0, begun=NOW - DAY, pace=200):
    """Yield rounds whose share of right words rises from ``start`` to ``end``; a round takes ``pace`` milliseconds."""
    rng = random.Random(seed)
    end = start if end is None else end
    for position in range(count):
        quality = 10 * (start + (end - start) * position / TOTAL)
        tenths = int(quality) + (rng.random() < quality % 1)
        reward, counts = rng.choice(outcomes(tenths))
        yield RoundResult(position, reward, counts, begun + pace * position)


def identity(system, participant="acme", attempt=1, run=None, phase="dev"):
    return RunIdentity(run or f"{participant}/{system}/{attempt}", participant, phase, system, attempt, NOW - DAY)


def post_edit_summary(system, count=None, *, participant="acme", attempt=1, **rounds):
    begun = Summary.begin(identity(system, participant, attempt), POST_EDIT_TOTAL, post_edits=True)
    played = post_edit_rounds(POST_EDIT_TOTAL if count is None else count, **rounds)
    return begun.fold(played, Layout.plain(POST_EDIT_TOTAL))


def summary(system, count=TOTAL, *, participant="acme", attempt=1, **rounds):
    begun = Summary.begin(identity(system, participant, attempt), TOTAL)
    return begun.fold(random_rounds(count, **rounds), LAYOUT)


ORGANISER_ROLES = [
    Role("organiser", "BNMT-oracle", RoleKind.ORACLE),
    Role("organiser", "SMT-oracle", RoleKind.ORACLE),
    Role("organiser", "BNMT-static", RoleKind.BASELINE),
    Role("organiser", "SMT-static", RoleKind.BASELINE),
    Role("organiser", "copy-source", RoleKind.BASELINE),
]


@cache
def dev_summaries():
    return [
        summary("BNMT-oracle", participant="organiser", start=0.9, seed=1),
        summary("SMT-oracle", participant="organiser", start=0.8, seed=2),
        summary("BNMT-static", participant="organiser", start=0.5, seed=3),
        summary("SMT-static", participant="organiser", start=0.52, seed=4),
        summary("copy-source", participant="organiser", start=0.2, seed=5),
        summary("BNMT-EL", start=0.5, end=0.7, seed=6),
        summary("BNMT-EL-CV", start=0.5, end=0.69, seed=7),
        summary("SMT-EL-CV-ADAM", participant="uni-x", start=0.52, end=0.5, seed=8),
        summary("WNMT-EL", participant="uni-x", start=0.35, end=0.45, seed=9),
        summary("ELM-domain-adaptation", participant="elm", start=0.55, end=0.75, seed=10),
        summary("ELM-reinforce", 2_600, participant="elm", start=0.45, end=0.7, seed=11, begun=NOW - 600_000),
        summary("CEDAR", 900, participant="cedar", start=0.4, end=0.5, seed=12, begun=NOW - 10 * DAY),
    ]


def dev_board(state="open"):
    return make_board(dev_phase(state), dev_summaries(), ORGANISER_ROLES, now=NOW)


def seeded_board(profiles=None):
    """Return the same board, on which BNMT-EL was played with three seeds."""
    seeds = [summary(f"BNMT-EL.s{seed}", start=0.5, end=0.66 + 0.03 * seed, seed=30 + seed) for seed in (2, 3)]
    return make_board(dev_phase(), [*dev_summaries(), *seeds], ORGANISER_ROLES, profiles, now=NOW)


def post_edit_phase(state="open", **changes):
    plain = {"total": POST_EDIT_TOTAL, "held_out": HeldOutBlock(0, 0, []), "post_edits": True, "language": "en"}
    return dev_phase(state, **{**plain, **changes})


@cache
def post_edit_summaries():
    return [
        post_edit_summary("BNMT-static", participant="organiser", start=0.5, seed=3),
        post_edit_summary("copy-source", participant="organiser", start=0.2, seed=5),
        post_edit_summary("BNMT-full", start=0.5, end=0.6, memory=0.5, seed=6),
        post_edit_summary("BNMT-lasso", start=0.52, end=0.62, memory=0.3, seed=7),
        post_edit_summary("SMT-memory", participant="uni-x", start=0.45, memory=0.4, seed=8),
        post_edit_summary("SMT-forgetful", participant="uni-x", start=0.55, end=0.4, seed=9),
        post_edit_summary("ELM", 650, participant="elm", start=0.5, end=0.7, seed=11, begun=NOW - 600_000),
        post_edit_summary("CEDAR", 100, participant="cedar", start=0.4, seed=12, begun=NOW - 10 * DAY),
    ]


def post_edit_board(state="open"):
    return make_board(post_edit_phase(state), post_edit_summaries(), ORGANISER_ROLES, now=NOW)


def hostile_board():
    runs = [
        summary(name, participant=f"by {name}", start=0.4, end=0.5 + number / 50, seed=number)
        for number, name in enumerate(HOSTILE_NAMES)
    ]
    teams = [
        TeamProfile(f"by {name}", name[:100], name, "https://evil.example/?<script>'\"")
        for name in HOSTILE_NAMES
        if "\u202e" not in name  # no profile can have it
    ]
    systems = [SystemProfile(f"by {HOSTILE_NAMES[0]}", HOSTILE_NAMES[0], HOSTILE_NAMES[1], "https://evil.example/")]
    profiles = Profiles(teams, systems)
    return make_board(dev_phase(), [*dev_summaries()[:3], *runs], ORGANISER_ROLES, profiles, now=NOW)


def crowded_board(runs=200):
    """Return a board with many runs; most of them share their rounds with another, to save time."""
    few = dev_summaries()
    crowd = [
        Summary(identity(f"system-{number:03d}", f"team-{number % 20:02d}"), few[number % len(few)].record)
        for number in range(runs - len(few))
    ]
    return make_board(dev_phase(), [*few, *crowd], ORGANISER_ROLES, now=NOW)


@cache
def mixed_references():
    """Return references of two and of twelve words in turn."""
    rng = random.Random(7)
    lengths = (12 if number % 2 else 2 for number in range(MARKED_TOTAL))
    return [" ".join(f"w{rng.randrange(50)}" for _ in range(length)) for length in lengths]


def degraded(reference, right, rng):
    return " ".join(word if rng.random() < right else "?" for word in reference.split())


def mixed_summary(system, short, long, *, rounds=MARKED_TOTAL, late_only=True, seed=1):
    """Return a run that gets these shares of the words of short and of long sentences right.

    Before the last quarter, it gets half of them right, unless that is not wanted.
    """
    rng = random.Random(seed)
    results = []
    for index, reference in enumerate(mixed_references()[:rounds]):
        right = 0.5 if late_only and index < 300 else short if len(reference.split()) == 2 else long
        counts = count_ngram_matches(degraded(reference, right, rng), reference)
        results.append(RoundResult(index, sentence_score(counts), counts.to_bytes(), NOW))
    return Summary.begin(identity(system), MARKED_TOTAL).fold(results, Layout.plain(MARKED_TOTAL))


def marked_board():
    """Return a board with a baseline, a run that earns more while corpus BLEU falls, and one that is better in both."""
    runs = [
        mixed_summary("X-static", 0.5, 0.8, late_only=False),
        mixed_summary("X-short", 1.0, 0.6, late_only=False),
        mixed_summary("X-better", 0.9, 0.9, late_only=False),
    ]
    phase = dev_phase(total=MARKED_TOTAL, held_out=HeldOutBlock(0, 0, []))
    return make_board(phase, runs, [Role("acme", "X-static", RoleKind.BASELINE)], now=NOW)


def empty_board():
    return make_board(dev_phase(), [], now=NOW)


if __name__ == "__main__":
    print(json.dumps(dev_board().as_dict(), indent=1, ensure_ascii=False))
