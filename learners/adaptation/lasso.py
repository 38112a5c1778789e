"""ADAPT-lasso: the user's data choose which parameters adapt (Wuebker et al. 2018; Simianer et al. 2019, section 4).

The group lasso adds ``penalty * sum over groups of sqrt(size) * norm of the offsets`` to the loss. Groups are tensors,
and single rows of embedding tables. After each step, groups whose offsets became zero are free, and of the others only
those with the largest gains stay, within a budget of parameters; the rest return to the base model.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from learners.adaptation.gains import GroupGains, fill_budget
from learners.adaptation.neural import OUTPUT_BIAS, AdaptationConfig, TensorAdaptation
from learners.adaptation.parameters import AdaptedParameters
from learners.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class LassoConfig(AdaptationConfig):
    """The penalty and the budgets, as shares of the model's parameters, so that they fit models of any size."""

    penalty: float = 1e-3  # not published; a step of a whole tensor shrinks by a quarter, one of a row hardly
    budget_share: float = 0.127  # of the parameters outside embeddings: 1 of 7.9 million in the paper
    embedding_budget_share: float = 0.1  # of all embedding tables together; small vocabularies use every row more often


class LassoAdaptation(TensorAdaptation):
    """Adapts the groups of parameters that gain most, and always the output bias."""

    def __init__(self, parameters: AdaptedParameters, config: LassoConfig) -> None:
        super().__init__(parameters, config, list(parameters.tensors))
        self._lasso = config
        self._gains = GroupGains(parameters.tensors, parameters.tables)
        self._sizes = {name: tensor.numel() for name, tensor in parameters.tensors.items()}
        self._groups = [name for name in parameters.tensors if name not in (*parameters.tables, OUTPUT_BIAS)]
        self.budget = int(config.budget_share * sum(self._sizes[name] for name in self._groups))
        embeddings = sum(self._sizes[name] for name in parameters.tables)
        self.embedding_budget = int(config.embedding_budget_share * embeddings)

    def _regularise(self, parameters: AdaptedParameters, gradients: Sequence[Tensor], factors: Sequence[float]) -> None:
        self._gains.add(self._trained, gradients, factors)
        self._keep_tensors(parameters)
        self._keep_rows(parameters)

    def _keep_tensors(self, parameters: AdaptedParameters) -> None:
        offsets = [parameters.offsets[name] for name in self._groups]
        rate_penalty = self._lasso.learning_rate * self._lasso.penalty
        norms = torch.stack(torch._foreach_norm(offsets)).tolist()
        shrunk = {
            name: shrinkage(norm, self._sizes[name], rate_penalty)
            for name, norm in zip(self._groups, norms, strict=True)
        }
        moved = {name: self._gains.tensors[name] for name, factor in shrunk.items() if factor > 0}
        kept = set(fill_budget(moved, self._sizes, self.budget))
        torch._foreach_mul_(offsets, [shrunk[name] if name in kept else 0.0 for name in self._groups])

    def _keep_rows(self, parameters: AdaptedParameters) -> None:
        """Shrink all rows of all tables, and keep as many as the budget allows."""
        tables = [parameters.offsets[name] for name in parameters.tables]
        width = tables[0].shape[1]  # the same for all: a model has one width of embeddings
        threshold = self._lasso.learning_rate * self._lasso.penalty * math.sqrt(width)
        norms = torch.cat([table.norm(dim=1) for table in tables])
        factors = (1 - threshold / norms.clamp_min(1e-30)).clamp_min(0)
        moved = (factors > 0).nonzero()[:, 0]
        limit = self.embedding_budget // width
        if len(moved) > limit:
            gains = torch.cat([self._gains.rows[name] for name in parameters.tables])
            ranked = gains[moved].sort(descending=True, stable=True).indices  # stable: ties by table and row
            factors[moved[ranked[limit:]]] = 0
        for table, part in zip(tables, factors.split([len(table) for table in tables]), strict=True):
            table.mul_(part.unsqueeze(1))

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("gains", self._gains.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._gains.load(snapshot.part("gains"))


def shrinkage(norm: float, size: int, rate_penalty: float) -> float:
    """Return the factor of the proximal step for a group of ``size`` offsets with this norm; 0 makes it zero.

    ``rate_penalty`` is the learning rate times the penalty.
    """
    return max(0.0, 1.0 - rate_penalty * math.sqrt(size) / norm) if norm > 0 else 0.0
