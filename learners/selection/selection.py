"""Selection of the out-of-domain pairs whose sources resemble the sources that were served.

The system UMD-domain-adaptation of the task paper (Sokolov et al. 2017, section 5.3) selects by cross-entropy
difference (Moore and Lewis 2010; Axelrod et al. 2011). Only the source side can be compared: no in-domain target is
ever shown. Decided here, because the paper does not say:

- Both language models are trigram models with Kneser-Ney smoothing. That of the out-of-domain text is trained on a
  random sample with as many sentences as were served, as Moore and Lewis propose.
- A fifth of the pairs is selected.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from learners.errors import TrainingError
from learners.nmt.batches import Pair
from learners.seed_models.random_order import in_random_order
from learners.selection.cross_entropy import SourceLanguageModel, cross_entropy_difference, shared_vocabulary
from learners.settings import check_bounds


@dataclass(frozen=True, kw_only=True)
class SelectionConfig:
    """How many pairs are selected, and by which language models."""

    share: float = 0.2  # of the out-of-domain pairs: the more, the less the selected text differs from all of it
    order: int = 3  # of the language models: n-grams of up to this many words
    seed: int = 0  # of the sample of out-of-domain text that is compared with

    def __post_init__(self) -> None:
        check_bounds(self, share=(0.0, 1.0), order=(1, 6))


def select_pairs(
    pairs: Sequence[Pair],
    served: Sequence[str],
    config: SelectionConfig = SelectionConfig(),  # noqa: B008 (immutable)
) -> list[Pair]:
    """Return the pairs with the lowest cross-entropy difference, in their order in the text.

    Args:
        pairs: Out-of-domain pairs.
        served: Sources of the domain, such as those that were served so far.
        config: How many pairs are selected.

    Raises:
        TrainingError: One of the texts is empty.
    """
    if not pairs or not served:
        raise TrainingError(
            "data selection needs out-of-domain pairs and sources that were served; one of both is empty"
        )
    sources = [source for source, _ in pairs]
    sample = [source for source, _ in in_random_order(pairs, seed=config.seed)[: len(served)]]
    vocabulary = shared_vocabulary(served, sample)
    in_domain, out_of_domain = (SourceLanguageModel(text, vocabulary, config.order) for text in (served, sample))
    differences = cross_entropy_difference(sources, in_domain, out_of_domain)
    count = max(1, round(config.share * len(pairs)))
    chosen = np.sort(np.argsort(differences, kind="stable")[:count])
    return [pairs[place] for place in chosen.tolist()]
