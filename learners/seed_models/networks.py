"""The configs of neural seed models, for each size and architecture, and how long each size is trained."""

from dataclasses import replace

from learners.nmt.configs import MODEL_CONFIGS, ModelConfig
from learners.nmt.plateau import PlateauConfig
from learners.nmt.pretraining import PretrainingConfig
from learners.seed_models.settings import Architecture, BuildSettings, Size

Networks = dict[BuildSettings, ModelConfig]

CONFIG_NAMES = {
    BuildSettings(Size.SMALL): "gru-small",
    BuildSettings(Size.PAPER): "gru-paper",
    BuildSettings(Size.SMALL, Architecture.TRANSFORMER): "transformer-small",
    BuildSettings(Size.PAPER, Architecture.TRANSFORMER): "transformer-base",
}
THIRD_PARTY_VOCABULARY = {Size.SMALL: 8_000, Size.PAPER: 89_500}  # Sokolov et al. 2017, section 4.2: 89,500 merges

# Our choice, because the paper does not say how it stopped. Not tried: a CPU would take days or weeks.
PAPER_VALIDATE_EVERY = 2_000  # steps
PAPER_PLATEAU = PlateauConfig(min_gain=0.0, patience=5, reductions=0)


def _networks(prefix: str = "") -> Networks:
    return {settings: MODEL_CONFIGS[f"{prefix}{name}"] for settings, name in CONFIG_NAMES.items()}


def _tiny(prefix: str = "", *, vocabulary_size: int = 200) -> Networks:
    """Return the small networks made tiny, for tests."""
    return {
        BuildSettings(Size.TINY, architecture): replace(
            MODEL_CONFIGS[f"{prefix}{architecture}-small"],
            name=f"{prefix}{architecture}-small-tiny",
            vocabulary_size=vocabulary_size,
            embedding=16,
            encoder=8,
            decoder=16,
            feed_forward=32,
            warmup=10,
        )
        for architecture in Architecture
    }


def _third_party(settings: BuildSettings, config: ModelConfig) -> ModelConfig:
    return replace(config, name=f"{config.name}-wmt16", vocabulary_size=THIRD_PARTY_VOCABULARY[settings.size])


def _adaptation() -> Networks:
    """Return the networks that learn from post-edits: Transformers, whatever the architecture of the others."""
    small = MODEL_CONFIGS["transformer-adaptation-small"]
    tiny = replace(
        small,
        name=f"{small.name}-tiny",
        vocabulary_size=200,
        embedding=16,
        layers=2,
        decoder_layers=1,
        feed_forward=32,
        warmup=10,
    )
    by_size = {Size.TINY: tiny, Size.SMALL: small, Size.PAPER: MODEL_CONFIGS["transformer-adaptation"]}
    return {BuildSettings(size, architecture): by_size[size] for size in Size for architecture in Architecture}


SUBWORD_NETWORKS = _networks() | _tiny()
WORD_NETWORKS = _networks("word-") | _tiny("word-")
ADAPTATION_NETWORKS = _adaptation()
THIRD_PARTY_NETWORKS = {settings: _third_party(settings, config) for settings, config in _networks().items()} | _tiny(
    vocabulary_size=300
)


def pretraining_config(settings: BuildSettings, *, max_steps: int | None = None, seed: int = 0) -> PretrainingConfig:
    """Return how networks of these settings are pre-trained: until they have converged, or for ``max_steps``.

    Published sizes keep the published learning rate to the end: they stop at the first plateau, and do not reduce it.
    """
    config = PretrainingConfig(max_steps=max_steps, seed=seed)
    if settings.size is Size.PAPER:
        return replace(config, validate_every=PAPER_VALIDATE_EVERY, plateau=PAPER_PLATEAU)
    return config
