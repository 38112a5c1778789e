"""What a model is made of and how it is trained, in sizes from a laptop's to the papers'."""

from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """One kind of model; ``banditmt pretrain`` makes it."""

    name: str
    architecture: Literal["gru", "transformer"] = "gru"
    vocabulary: Literal["bpe", "word"] = "bpe"  # bpe is joint, and its embeddings serve both sides; words are per side
    vocabulary_size: int = 4_000
    embedding: int = 128  # also the Transformer's width
    encoder: int = 64  # GRU units per direction
    decoder: int = 128  # GRU units
    lexical: bool = False  # attention of the GRU sees the words themselves, too
    layers: int = 2  # of the Transformer, on each side
    heads: int = 4
    feed_forward: int = 512
    tied: bool = True  # the output layer is the target embedding: half the parameters, and better on small data
    max_training_words: int = 50  # words of a source that it is trained on; pairs with longer ones are left out
    max_source: int = 100  # tokens; longer sources are cut here
    max_target: int = 100  # tokens of a training target; translations are bound by their source too
    dropout: float = 0.1  # while pre-training
    learning_rate: float = 5e-3  # of Adam, while pre-training
    beta2: float = 0.98  # of Adam: how long it remembers how large gradients were
    warmup: int = 300  # steps until that rate is reached
    inverse_sqrt: bool = True  # the rate then falls with the root of the steps; else it stays
    batch_tokens: int = 600  # target tokens per step
    clip_norm: float = 1.0  # gradient norm


TRANSFORMER_SMALL = ModelConfig(
    name="transformer-small",
    architecture="transformer",
    max_training_words=16,
    learning_rate=1e-3,
    warmup=1_000,
)
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


def _of_words(config: ModelConfig, size: int) -> ModelConfig:
    """The same with a vocabulary of words on each side."""
    return replace(config, name=f"word-{config.name}", vocabulary="word", vocabulary_size=size)


MODEL_CONFIGS = {
    config.name: config
    for config in (
        # Three quarters of a million parameters: the CPU default. It sees so little of the text that it needs no
        # dropout, and short sentences, such as it will have to translate, teach it most in the time it has.
        ModelConfig(name="gru-small", dropout=0.0, max_training_words=16, lexical=True),
        ModelConfig(
            name="word-gru-small", vocabulary="word", vocabulary_size=8_000, dropout=0.0, max_training_words=16
        ),
        TRANSFORMER_SMALL,
        _of_words(TRANSFORMER_SMALL, 8_000),
        ModelConfig(  # BNMT of the task [S003 section 4.2]
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
        ),
        ModelConfig(  # WNMT of the task
            name="word-gru-paper",
            vocabulary="word",
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
        ),
        TRANSFORMER_BASE,
        _of_words(TRANSFORMER_BASE, 30_000),
    )
}
