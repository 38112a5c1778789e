"""Data selection that goes on during a run: a variant of our own of UMD-domain-adaptation.

It starts from the seed model as it is. Whenever so many new sources have been served, it selects again, by all sources
so far, and trains further on what it selected. It plays greedily, and ignores rewards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from learners.bandit.optimiser import Optimiser, OptimiserConfig
from learners.contract import Feedback, Learner, Sentence
from learners.errors import SnapshotError
from learners.nmt.batches import EncodedPair, Pair, bucket_by_length
from learners.nmt.model import with_dropout
from learners.nmt.translator import Translator
from learners.selection.selection import SelectionConfig, select_pairs
from learners.settings import check_bounds
from learners.snapshot import Snapshot
from learners.stored_names import to_stored

SNAPSHOT_KIND = "online selection 1"


@dataclass(frozen=True, kw_only=True)
class OnlineSelectionConfig:
    """When the learner selects, and how it trains."""

    selection: SelectionConfig = field(default_factory=SelectionConfig)
    optimiser: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(learning_rate=3e-4))
    new_sources: int = 1_000  # distinct sources that were not served before, between two selections
    steps: int = 100  # of training after each selection
    dropout: float = 0.1  # while training: the selected pairs come back

    def __post_init__(self) -> None:
        check_bounds(self, new_sources=(1, None), steps=(1, None), dropout=(0.0, 0.9))


class OnlineSelectionLearner(Learner):
    """UMD-domain-adaptation-online: adapts to the sources that it is served."""

    def __init__(
        self, translator: Translator, pairs: Sequence[Pair], config: OnlineSelectionConfig, *, seed: int
    ) -> None:
        max_words = translator.config.max_training_words
        self._pairs = [pair for pair in pairs if len(pair[0].split()) <= max_words]
        self._translator, self._config, self._seed = translator, config, seed
        self._optimiser = Optimiser([translator.vector], config.optimiser)
        self._served: dict[str, None] = {}  # distinct sources, in the order served
        self._selections = 0

    def propose(self, sentence: Sentence) -> str:
        return self._translator.greedy(sentence.source).text

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:  # noqa: ARG002
        """Remember the source, and adapt if enough new ones have come. The reward is ignored."""
        self._served.setdefault(sentence.source)
        if len(self._served) >= (self._selections + 1) * self._config.new_sources:
            self._selections += 1
            self._adapt()

    def _adapt(self) -> None:
        """Select pairs by all sources so far, and train on them. All random choices follow from seed and selection."""
        translator, config = self._translator, self._config
        selected = select_pairs(self._pairs, list(self._served), config.selection)
        encoded = [(translator.encode_source(source), translator.encode_target(target)) for source, target in selected]
        rng = np.random.default_rng([self._seed, self._selections])
        batches = list[list[int]]()
        with with_dropout(translator.model, config.dropout), torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**62)))
            for _ in range(config.steps):
                batches = batches or bucket_by_length(encoded, translator.config.batch_tokens, rng)
                self._step([encoded[place] for place in batches.pop()])

    def _step(self, batch: Sequence[EncodedPair]) -> None:
        """Take one step along the mean gradient of the log-likelihood."""
        sources, targets = zip(*batch, strict=True)
        self._translator.zero_gradient()
        (-self._translator.log_probabilities(sources, targets).sum() / len(batch)).backward()
        self._optimiser.step()

    def save(self) -> Snapshot:
        snapshot = Snapshot(
            {"vector": self._translator.vector.detach().cpu().numpy().copy()},
            {"about": self._identity(), "served": list(self._served), "selections": self._selections},
        )
        snapshot.put("optimiser", self._optimiser.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        if snapshot.values.get("about") != self._identity():
            raise SnapshotError("the snapshot is of another learner, or of other settings")
        with torch.no_grad():
            self._translator.vector.copy_(torch.from_numpy(snapshot.arrays["vector"]))
        self._served = dict.fromkeys(snapshot.values["served"])
        self._selections = snapshot.values["selections"]
        self._optimiser.load(snapshot.part("optimiser"))

    def _identity(self) -> dict[str, object]:
        return {"kind": SNAPSHOT_KIND, "config": to_stored(self._config), "seed": self._seed}
