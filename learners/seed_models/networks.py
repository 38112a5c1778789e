"""The configs of neural seed models, for each size and architecture."""

from dataclasses import replace

from learners.nmt.configs import MODEL_CONFIGS, ModelConfig
from learners.seed_models.settings import Architecture, BuildSettings, Size

Networks = dict[BuildSettings, ModelConfig]

CONFIG_NAMES = {
    BuildSettings(Size.SMALL): "gru-small",
    BuildSettings(Size.PAPER): "gru-paper",
    BuildSettings(Size.SMALL, Architecture.TRANSFORMER): "transformer-small",
    BuildSettings(Size.PAPER, Architecture.TRANSFORMER): "transformer-base",
}
THIRD_PARTY_VOCABULARY = {Size.SMALL: 8_000, Size.PAPER: 89_500}  # Sokolov et al. 2017, section 4.2: 89,500 merges


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


SUBWORD_NETWORKS = _networks() | _tiny()
WORD_NETWORKS = _networks("word-") | _tiny("word-")
THIRD_PARTY_NETWORKS = {settings: _third_party(settings, config) for settings, config in _networks().items()} | _tiny(
    vocabulary_size=300
)
