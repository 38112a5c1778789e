"""Models small enough for exhaustive checks, and a language small enough to learn in a second."""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from learners.nmt.configs import ModelConfig
from learners.nmt.translator import Translator, new_model
from learners.nmt.vocabulary import SubwordVocabulary, WordVocabulary

TINY = ModelConfig(
    name="tiny",
    vocabulary_size=60,
    embedding=8,
    encoder=4,
    decoder=6,
    layers=2,
    heads=2,
    feed_forward=12,
    dropout=0.0,
    learning_rate=1e-2,
    warmup=20,
    batch_tokens=200,
)
ARCHITECTURES = ("gru", "transformer")

WORDS = {"rot": "red", "blau": "blue", "hemd": "shirt", "rock": "skirt", "mit": "with", "tasche": "pocket"}
COLOURS, THINGS, COPIED = ("rot", "blau"), ("hemd", "rock", "tasche"), ("x", "y", "zu")


def toy_pairs() -> list[tuple[str, str]]:
    """Return pairs that translate word by word, with tokens to copy."""
    sources = [f"{colour} {thing}" for colour in COLOURS for thing in THINGS]
    sources += [f"{one} mit {other}" for one in sources for other in ("tasche", "zu")]
    sources += [f"{one} {middle} {last}" for one in COPIED for middle in (*COPIED, "rot") for last in COPIED]
    return [(source, " ".join(WORDS.get(word, word) for word in source.split())) for source in sources]


def tiny_translator(
    config: ModelConfig = TINY, *, seed: int = 1, dtype: torch.dtype = torch.float32, scale: float = 1.5
) -> Translator:
    """Return an untrained translator on the CPU; ``scale`` makes its distributions less uniform than a new model's."""
    source: SubwordVocabulary | WordVocabulary
    target: SubwordVocabulary | WordVocabulary
    if config.vocabulary == "bpe":
        source = target = SubwordVocabulary.learn(
            (text for pair in toy_pairs() for text in pair), config.vocabulary_size
        )
    else:
        source = WordVocabulary.learn((pair[0] for pair in toy_pairs()), config.vocabulary_size)
        target = WordVocabulary.learn((pair[1] for pair in toy_pairs()), config.vocabulary_size)
    model = new_model(config, source.size, target.size, seed=seed).to(dtype)
    translator = Translator(config, model, source, target, device=torch.device("cpu"))
    translator.vector.data *= scale
    return translator


def constant_translator(words: list[str], logits: list[float], config: ModelConfig = TINY) -> Translator:
    """Return a translator that always predicts the end symbol, an unknown or one of these words by these logits."""
    vocabulary = WordVocabulary(words)
    config = replace(config, vocabulary="word")
    model = new_model(config, vocabulary.size, vocabulary.size)
    translator = Translator(config, model, vocabulary, vocabulary, device=torch.device("cpu"))
    translator.vector.data.zero_()
    model.output_bias.data[2:] = torch.tensor(logits)
    return translator


def three_token_translator(config: ModelConfig = TINY) -> Translator:
    """Return a translator that always predicts the end symbol, an unknown or "a" with logits 2, 1 and 0."""
    return constant_translator(["a"], [2.0, 1.0, 0.0], config)


def log_probability(translator: Translator, source_ids: list[int], ids: list[int], temperature: float = 1.0) -> Tensor:
    """Return the log-probability of one translation, as a scalar with torch's graph."""
    return translator.log_probabilities([source_ids], [ids], temperature).sum()


def finite_differences(
    loss: Callable[[], float], vector: Tensor, count: int, *, change: float = 1e-6
) -> tuple[list[int], list[float]]:
    """Return ``count`` random indices of a vector in double precision, and the slope of the loss at each."""
    indices = torch.randperm(len(vector), generator=torch.Generator().manual_seed(3))[:count].tolist()
    slopes = []
    with torch.no_grad():
        for index in indices:
            kept = vector[index].item()
            vector[index] = kept + change
            above = loss()
            vector[index] = kept - change
            below = loss()
            vector[index] = kept
            slopes.append((above - below) / (2 * change))
    return indices, slopes
