"""A board for screenshots: invented runs of invented participants, evaluated by the real code."""

import math
import random

from leaderboard.families import Role, RoleKind
from leaderboard.metrics.bleu import BleuStatistics, count_ngram_matches, sentence_score
from leaderboard.rows import Board, BoardPhase, HeldOutBlock
from leaderboard.summaries import RunIdentity, Summary
from leaderboard.table import make_board
from task.feedback import SENTENCE_BLEU
from task.layout import Layout
from task.rounds import RoundResult

NOW = 1_767_225_600_000  # the first second of 2026
HOUR = 3_600_000

LAYOUT = Layout(blocks=8, block=200, gap=1_200)
TOTAL = 10_000

# system, participant, role, share of right words at first and at the end, learning speed, words per reference word
SYSTEMS = [
    ("BNMT-oracle", "organiser", RoleKind.ORACLE, 0.84, 0.84, 1.0, 0.99),
    ("SMT-oracle", "organiser", RoleKind.ORACLE, 0.80, 0.80, 1.0, 1.02),
    ("BNMT-static", "organiser", RoleKind.BASELINE, 0.66, 0.66, 1.0, 0.93),
    ("SMT-static", "organiser", RoleKind.BASELINE, 0.69, 0.69, 1.0, 1.04),
    ("acme-domain-adaptation", "acme", RoleKind.CONTESTANT, 0.70, 0.76, 3.0, 0.97),
    ("BNMT-EL-CV", "northwind", RoleKind.CONTESTANT, 0.66, 0.775, 2.2, 0.96),
    ("BNMT-EL", "northwind", RoleKind.CONTESTANT, 0.66, 0.76, 1.6, 0.95),
    ("umbra-ucb1", "umbra", RoleKind.CONTESTANT, 0.68, 0.72, 5.0, 1.01),
    ("SMT-EL-CV-ADAM", "northwind", RoleKind.CONTESTANT, 0.69, 0.715, 4.0, 1.03),
    ("umbra-short", "umbra", RoleKind.CONTESTANT, 0.69, 0.74, 2.0, 0.99),
    ("WNMT-EL", "northwind", RoleKind.CONTESTANT, 0.58, 0.66, 1.4, 0.90),
    ("acme-reinforce", "acme", RoleKind.CONTESTANT, 0.64, 0.76, 1.2, 0.94),
    ("umbra-linucb", "umbra", RoleKind.CONTESTANT, 0.67, 0.71, 3.0, 1.00),
]
SHORT_SIGHTED = {"umbra-short"}  # learns short sentences, and forgets long ones: more reward, but lower corpus BLEU
UNFINISHED = {"acme-reinforce": (8_300, 1), "umbra-linucb": (2_150, 24 * 9)}  # rounds, and hours since the last


def sample_board() -> Board:
    """Return the board of a dev phase in progress."""
    phase = BoardPhase(
        name="dev",
        state="open",
        total=TOTAL,
        held_out=HeldOutBlock.of(LAYOUT),
        signature=SENTENCE_BLEU.signature,
    )
    roles = [Role(participant, system, role) for system, participant, role, *_ in SYSTEMS]
    return make_board(phase, [_summary(seed, *system) for seed, system in enumerate(SYSTEMS)], roles, now=NOW)


def _summary(
    seed: int, system: str, participant: str, _: RoleKind, start: float, end: float, speed: float, length: float
) -> Summary:
    rounds, hours = UNFINISHED.get(system, (TOTAL, 30 - seed))
    pace = 900 + 130 * seed
    begun = NOW - hours * HOUR - rounds * pace if hours > 1 else NOW - 40_000 - rounds * pace
    identity = RunIdentity(f"{participant}/{system}/1", participant, "dev", system, 1, begun)
    rng = random.Random(seed)
    played = []
    for position in range(rounds):
        learned = 1 - math.exp(-speed * position / TOTAL * 2)
        quality = start + (end - start) * learned
        drift = 0.45 * learned if system in SHORT_SIGHTED else 0.0
        counts = _outcome(quality, length, rng, random.Random(position), drift=drift)
        played.append(RoundResult(position, sentence_score(counts), counts.to_bytes(), begun + pace * position))
    return Summary.begin(identity, TOTAL).fold(played, LAYOUT)


def _outcome(
    quality: float, length: float, rng: random.Random, sentence: random.Random, *, drift: float
) -> BleuStatistics:
    """Return the statistics of one translation; a sentence is equally hard for all systems.

    With a drift, a system is better at short sentences, and worse at long ones.
    """
    words = max(2, round(sentence.lognormvariate(1.9, 0.5)))
    right = min(0.99, max(0.02, quality + sentence.gauss(0, 0.16) + (drift if words < 7 else -drift / 2)))
    reference = [f"w{number}" for number in range(words)]
    candidate = [word if rng.random() < right else "?" for word in reference]
    while len(candidate) < words * length - rng.random():
        candidate.append("?")
    del candidate[max(1, round(words * length + rng.random() - 0.5)) :]
    return count_ngram_matches(" ".join(candidate), " ".join(reference))
