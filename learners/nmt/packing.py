"""Several targets of one source in a row: what they share is decoded once, and the source's keys are not repeated."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from learners.nmt.batches import pad
from learners.nmt.vocabulary import BOS, PAD

_PREFIX = 1  # the segment of what all targets of a row begin with; targets have higher numbers, padding has 0

Target = tuple[list[int], int]  # tokens, and how many of them are the prefix that the targets of a row share


@dataclass(frozen=True)
class PackedTargets:
    """Rows of targets. A token sees the prefix and the earlier tokens of its own target, but no other target."""

    previous: Tensor  # [rows, tokens], the token before each
    positions: Tensor  # [rows, tokens], as if each target stood alone
    visible: Tensor  # [rows, 1, tokens, tokens]
    labels: Tensor  # [rows, tokens]; PAD for the prefix, which is not scored
    numbers: Tensor  # [scored tokens], the target to which each token belongs, counted over all rows

    @classmethod
    def of(cls, rows: Sequence[Sequence[Target]], device: torch.device) -> "PackedTargets":
        """Pack the targets of each row."""
        packed = [_pack(row) for row in rows]
        previous, positions, segments, labels = (pad(column, device) for column in zip(*packed, strict=True))
        keys, queries = segments.unsqueeze(1), segments.unsqueeze(2)
        visible = ((keys == _PREFIX) | (keys == queries)) & (positions.unsqueeze(1) <= positions.unsqueeze(2))
        counts = torch.tensor([0, *(len(row) for row in rows[:-1])], device=device).cumsum(0)
        numbers = (segments - _PREFIX - 1 + counts.unsqueeze(1))[labels != PAD]
        return cls(previous, positions, visible.unsqueeze(1), labels, numbers)


def _pack(row: Sequence[Target]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the previous token, the position, the segment and the label of each token of a row."""
    ids, start = row[0]
    previous, positions = [BOS, *ids][:start], list(range(start))
    segments, labels = [_PREFIX] * start, [PAD] * start
    for segment, (ids, start) in enumerate(row, start=_PREFIX + 1):
        previous += [BOS, *ids][start : len(ids)]
        positions += range(start, len(ids))
        segments += [segment] * (len(ids) - start)
        labels += ids[start:]
    return previous, positions, segments, labels
