"""The k-best oracle: proposes the candidate of a model that earns the highest reward."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from learners.contract import Feedback, Learner, Sentence
from learners.errors import SnapshotError
from learners.nmt.translator import Translator
from learners.references import PhaseReferences
from learners.smt.forest import LogLinearTranslator
from learners.smt.proposals import proposal_text
from learners.snapshot import Snapshot

KIND = "KBestOracle 1"
CACHE_SIZE = 65_536  # lists of candidates: sources repeat themselves, and search is slow

Candidates = Callable[[str], Sequence[str]]  # returns the candidates for a source, at least one


class KBestOracle(Learner):
    """SMT-k-best-oracle and BNMT-k-best-oracle. Among equally good candidates, it proposes the model's first one."""

    def __init__(self, candidates: Candidates, references: PhaseReferences) -> None:
        self._candidates = lru_cache(CACHE_SIZE)(candidates)
        self._references = references
        self._rounds = 0  # completed

    def propose(self, sentence: Sentence) -> str:
        candidates = self._candidates(sentence.source)
        rewards = self._references.rewards(self._rounds, sentence.source, candidates)
        return candidates[rewards.index(max(rewards))]

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:  # noqa: ARG002
        """Count the round, and ignore the feedback."""
        self._rounds += 1

    def save(self) -> Snapshot:
        return Snapshot(values={"kind": KIND, "rounds": self._rounds})

    def load(self, snapshot: Snapshot) -> None:
        if (kind := snapshot.values.get("kind")) != KIND:
            raise SnapshotError(f"the snapshot is of {kind}, not of {KIND}")
        self._rounds = snapshot.values["rounds"]


def statistical_k_best_oracle(
    translator: LogLinearTranslator,
    references: PhaseReferences,
    k: int,
    *,
    seed: int,  # noqa: ARG001 (nothing is random)
) -> KBestOracle:
    """Return the oracle of the k best translations under the tuned weights."""
    weights = translator.weights
    return KBestOracle(
        lambda source: list(map(proposal_text, translator.forest(source, weights).k_best(weights, k))), references
    )


def neural_k_best_oracle(
    translator: Translator,
    references: PhaseReferences,
    beam: int,
    *,
    seed: int,  # noqa: ARG001 (nothing is random)
) -> KBestOracle:
    """Return the oracle of all translations that a beam finishes, and of the greedy one, which a beam may lack."""

    def candidates(source: str) -> list[str]:
        return [one.text for one in (translator.greedy(source), *translator.k_best(source, beam))]

    return KBestOracle(candidates, references)
