"""Model configurations: architecture, sizes and pre-training, from a laptop's size to the published one."""

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """One kind of model, as ``banditmt pretrain`` makes it."""

    name: str
    architecture: Literal["gru", "transformer"] = "gru"
    vocabulary: Literal["bpe", "word"] = "bpe"  # bpe is joint and shares its embeddings; words are per language
    vocabulary_size: int = 4_000
    embedding: int = 128  # also the Transformer's width
    encoder: int = 64  # GRU units per direction
    decoder: int = 128  # GRU units
    lexical: bool = False  # the GRU's attention also reads the embeddings of the source tokens
    layers: int = 2  # of the Transformer, on each side
    decoder_layers: int | None = None  # of the Transformer's decoder, if it has another number of layers
    heads: int = 4
    feed_forward: int = 512
    tied: bool = True  # the output layer is the target embedding: half the parameters, and better on small data
    shared_embeddings: bool = True  # with bpe, source and target tokens have the same embedding
    max_training_words: int = 50  # pairs with longer sources are not trained on
    max_source: int = 100  # tokens; longer sources are truncated
    max_target: int = 100  # tokens of a training target; a translation's limit depends on its source instead
    dropout: float = 0.1  # in pre-training
    learning_rate: float = 5e-3  # of Adam, in pre-training
    beta2: float = 0.98  # of Adam: the decay of its mean of squared gradients
    warmup: int = 300  # steps of linear warm-up to the learning rate
    inverse_sqrt: bool = True  # after warm-up, the rate falls with the square root of the step; else it is constant
    batch_tokens: int = 600  # target tokens per step
    clip_norm: float = 1.0  # gradient norm


# Three quarters of a million parameters, the default on a CPU. It sees so little of the text that it needs no dropout,
# and short sentences, such as it will have to translate, teach it most in the time it has.
GRU_SMALL = ModelConfig(name="gru-small", dropout=0.0, max_training_words=16, lexical=True)
# BNMT-static of the task (Sokolov et al. 2017, section 4.2). With words, the seed of WNMT-EL (section 5.2).
GRU_PAPER = ModelConfig(
    name="gru-paper",
    vocabulary_size=30_000,
    embedding=500,
    encoder=1_024,
    decoder=1_024,
    tied=False,
    max_source=50,
    dropout=0.2,
    learning_rate=1e-4,
    beta2=0.999,
    warmup=1,
    inverse_sqrt=False,
    batch_tokens=4_000,
)
TRANSFORMER_SMALL = ModelConfig(
    name="transformer-small",
    architecture="transformer",
    max_training_words=16,
    learning_rate=1e-3,
    warmup=1_000,
)
# The base model of Vaswani et al. 2017, Table 3.
TRANSFORMER_BASE = ModelConfig(
    name="transformer-base",
    architecture="transformer",
    vocabulary_size=32_000,
    embedding=512,
    layers=6,
    heads=8,
    feed_forward=2_048,
    learning_rate=7e-4,
    warmup=16_000,
    batch_tokens=16_000,
)
# The model of Simianer et al. 2019, section 5.1. The width of its feed-forward blocks, its training and its exact
# vocabularies are not published.
TRANSFORMER_ADAPTATION = ModelConfig(
    name="transformer-adaptation",
    architecture="transformer",
    vocabulary_size=40_000,
    embedding=256,
    layers=6,
    decoder_layers=3,
    heads=8,
    feed_forward=1_024,
    tied=False,
    shared_embeddings=False,
    learning_rate=7e-4,
    warmup=16_000,
    batch_tokens=16_000,
)
# The same shape for a CPU. The output layer is the target embedding: on small data, that translates better.
TRANSFORMER_ADAPTATION_SMALL = ModelConfig(
    name="transformer-adaptation-small",
    architecture="transformer",
    layers=4,
    decoder_layers=2,
    shared_embeddings=False,
    max_training_words=30,
    learning_rate=1e-3,
    warmup=1_000,
    batch_tokens=1_000,
)


def _with_words(config: ModelConfig, vocabulary_size: int) -> ModelConfig:
    """Return the same configuration with a vocabulary of words for each language."""
    return replace(config, name=f"word-{config.name}", vocabulary="word", vocabulary_size=vocabulary_size)


MODEL_CONFIGS = {
    config.name: config
    for config in (
        GRU_SMALL,
        replace(_with_words(GRU_SMALL, 8_000), lexical=False),
        TRANSFORMER_SMALL,
        _with_words(TRANSFORMER_SMALL, 8_000),
        GRU_PAPER,
        _with_words(GRU_PAPER, 30_000),
        TRANSFORMER_BASE,
        _with_words(TRANSFORMER_BASE, 30_000),
        TRANSFORMER_ADAPTATION,
        TRANSFORMER_ADAPTATION_SMALL,
    )
}
