"""The names that model files and snapshots use on disk, where the code has other names.

Files outlive names in code. A class or a field that is renamed keeps its old name on disk: add it here, and files that
were written before still load. All configurations are written and read through this module.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from learners.errors import SnapshotError

CLASS_NAMES = {
    "SelfImitationLearner": "ImitationLearner",
    "ZerothOrderLearner": "PerturbationLearner",
    "LogLinearExpectedLossLearner": "ExpectedLossWeights",
    "LogLinearZerothOrderLearner": "PerturbedWeights",
    "TargetNgramLearner": "WordingLearner",
}
FIELD_NAMES: dict[str, dict[str, str]] = {  # by class
    "ModelConfig": {"max_training_words": "longest", "inverse_sqrt": "fading", "clip_norm": "clip"},
    "PretrainingConfig": {
        "max_steps": "steps",
        "mask_share": "hide",
        "rename_share": "rename",
        "learning_rate_factor": "rate",
        "continued_training": "practice",
        "keep_checkpoints": "keep",
    },
    "OptimiserConfig": {"learning_rate": "rate", "clip_norm": "clip"},
    "AnnealingSchedule": {"temperature_decay": "cooling", "learning_rate_decay": "decay"},
    "SafeguardConfig": {
        "max_length_ratio": "stretch",
        "min_entropy": "surprise_floor",
        "negative_advantage_weight": "blame",
        "running_mean_decay": "memory",
    },
    "SourceValueConfig": {"learning_rate": "rate", "decay_exponent": "fading", "max_length": "longest"},
    "ExpectedLossConfig": {"replay_batch": "replayed", "replay_capacity": "memory"},
    "SelfImitationConfig": {"replay_batch": "replayed", "replay_capacity": "memory"},
    "ZerothOrderConfig": {"noise_scale": "scale", "parameter_prefix": "chosen"},
    "LogLinearExpectedLossConfig": {"weight_scale": "scale"},
    "LogLinearZerothOrderConfig": {"weight_scale": "scale", "noise_scale": "noise"},
    "TargetNgramConfig": {"weight_scale": "scale"},
    "SmtConfig": {
        "lm_order": "order",
        "alignment_iterations": "iterations",
        "max_pair_length": "longest",
        "max_phrase_length": "phrase_length",
        "max_singleton_length": "singleton_length",
        "max_target_length": "target_length",
        "max_span": "span",
        "max_source_symbols": "symbols",
        "min_gapped_count": "gapped_minimum",
        "max_gapped_rules": "most_gapped",
        "table_limit": "translations",
        "distortion_limit": "distortion",
    },
}

# Fields that came later, by class. On disk they are left out while they have their default, so that configurations
# without them are read and written as before.
ADDED_FIELDS: dict[str, set[str]] = {"ModelConfig": {"decoder_layers", "shared_embeddings"}}

Config = TypeVar("Config")


def stored_class_name(kind: type) -> str:
    """Return the name of a class on disk."""
    return CLASS_NAMES.get(kind.__name__, kind.__name__)


def to_stored(config: Any) -> dict[str, Any]:
    """Return a configuration as JSON values under their names on disk; tuples become lists."""
    values: dict[str, Any] = json.loads(json.dumps(_by_stored_name(config)))
    return values


def from_stored(kind: type[Config], values: Mapping[str, Any]) -> Config:
    """Return the configuration that ``to_stored`` wrote; one without nested configurations."""
    names = {_stored_name(kind, field.name): field.name for field in fields(kind)}  # type: ignore[arg-type]
    if not set(names) - ADDED_FIELDS.get(kind.__name__, set()) <= set(values) <= set(names):
        raise SnapshotError("the model file was written by another version of banditmt")
    return kind(**{names[stored]: value for stored, value in values.items()})


def _by_stored_name(value: Any) -> Any:
    if not is_dataclass(value) or isinstance(value, type):
        return value
    kind = type(value)
    added = ADDED_FIELDS.get(kind.__name__, set())
    return {
        _stored_name(kind, field.name): _by_stored_name(getattr(value, field.name))
        for field in fields(value)
        if field.name not in added or getattr(value, field.name) != field.default
    }


def _stored_name(kind: type, field: str) -> str:
    return FIELD_NAMES.get(kind.__name__, {}).get(field, field)
