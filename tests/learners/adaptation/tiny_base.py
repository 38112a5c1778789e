"""A tiny Transformer of the shape that adaptation needs, for tests."""

from dataclasses import replace

import torch

from learners.adaptation.parameters import AdaptedParameters
from learners.contract import Feedback, Learner, Sentence
from learners.nmt.configs import ModelConfig
from learners.nmt.translator import Translator
from learners.nmt.vocabulary import EOS
from tests.learners.nmt.toys import TINY, tiny_translator

CONFIG = replace(
    TINY, architecture="transformer", layers=3, decoder_layers=2, shared_embeddings=False, tied=False, name="tiny-adapt"
)
STREAM = [("rot hemd", "red shirt"), ("blau rock", "blue skirt"), ("rot rock mit tasche", "red skirt with pocket")]


def base(config: ModelConfig = CONFIG, *, dtype: torch.dtype = torch.float32) -> Translator:
    """Return a new copy of the same untrained translator, whose translations are short: long ones take long."""
    translator = tiny_translator(config, dtype=dtype)
    translator.model.output_bias.data[EOS] += 3
    return translator


def parameters(config: ModelConfig = CONFIG, *, dtype: torch.dtype = torch.float32) -> AdaptedParameters:
    return AdaptedParameters(base(config, dtype=dtype))


def vector(adapted: AdaptedParameters) -> list[float]:
    """Return all parameters of the model as it is."""
    return adapted.translator.vector.detach().tolist()


def show(learner: Learner, stream: list[tuple[str, str]]) -> list[str]:
    """Play a stream of pairs with their targets as post-edits, and return what was proposed."""
    proposed = []
    for source, target in stream:
        text = learner.propose(Sentence(source))
        assert isinstance(text, str)
        proposed.append(text)
        learner.update(Sentence(source), text, Feedback(0.5, target))
    return proposed
