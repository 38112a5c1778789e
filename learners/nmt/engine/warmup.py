"""A warm-up that makes numba compile everything: all that the engine does, done once on a tiny model."""

import numpy as np
import torch

from learners.nmt.configs import ModelConfig
from learners.nmt.decoding import max_output_length
from learners.nmt.engine import Engine
from learners.nmt.engine.adam import EngineAdam
from learners.nmt.gru import GruModel
from learners.nmt.parameters import FlatParameters
from learners.nmt.vocabulary import EOS


def warm_up() -> None:
    """Decode greedily, sample, compute gradients with and without dropout, and step."""
    model = GruModel(ModelConfig(name="warm-up", embedding=4, encoder=2, decoder=4), 8, 8)
    flat = FlatParameters(model)
    engine = Engine(model)
    with torch.no_grad():
        engine.greedy_decode([EOS])
        sampled, trace = engine.sample([EOS], 1.0, np.zeros(max_output_length(1)))
        for learned in (trace, engine.forward([EOS], sampled.ids, 1.0, 0.5)):
            engine.backward(learned, np.zeros(len(sampled.ids)), 0.0)
        optimiser = EngineAdam([flat.vector], lr=0.0)
        optimiser.scaled_step(optimiser.gradient_norm())
