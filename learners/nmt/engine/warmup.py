"""Everything that the engine does, done once on a model of no importance: numba compiles it, and keeps the result."""

import numpy as np
import torch

from learners.nmt.configs import ModelConfig
from learners.nmt.decoding import length_bound
from learners.nmt.engine import Engine
from learners.nmt.gru import GruModel
from learners.nmt.parameters import FlatParameters
from learners.nmt.vocabulary import EOS


def warm_up() -> None:
    """Draw greedily and at random, and learn with and without dropout."""
    model = GruModel(ModelConfig(name="warm-up", embedding=4, encoder=2, decoder=4), 8, 8)
    FlatParameters(model)
    engine = Engine(model)
    with torch.no_grad():
        engine.draw([EOS], 1.0, None)
        drawn, trace = engine.draw([EOS], 1.0, np.zeros(length_bound(1)))
        for learned in (trace, engine.follow([EOS], drawn.ids, 1.0, 0.5)):
            engine.backward(learned, np.zeros(len(drawn.ids)), 0.0)
