"""A critic: the reward that a translation is expected to earn, given its source and its first tokens.

It is an encoder-decoder of its own, as in Bahdanau et al. 2017, with one number per position in place of a distribution
over tokens. Theirs reads the reference; here there is none, so it reads the source.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from learners.nmt.batches import pad, shift_right
from learners.nmt.configs import ModelConfig
from learners.nmt.model import token_mask
from learners.nmt.translator import Translator, new_model
from learners.snapshot import Snapshot


class Critic(nn.Module):
    """Values of the prefixes of a translation, each between 0 and 1 as rewards are."""

    def __init__(self, config: ModelConfig, source_size: int, target_size: int) -> None:
        super().__init__()
        self.config, self.sizes = config, (source_size, target_size)
        self.body = new_model(config, source_size, target_size)
        self.head = nn.Linear(config.embedding, 1)
        for tensor in (self.head.weight, self.head.bias):
            nn.init.zeros_(tensor)  # before training, every prefix is worth 0.5
        self.eval()

    @classmethod
    def like(cls, translator: Translator) -> "Critic":
        """Return a critic whose encoder-decoder starts as a copy of the translator's: it knows the languages."""
        critic = cls(translator.config, translator.source_vocabulary.size, translator.target_vocabulary.size)
        critic.body.load_state_dict(translator.model.state_dict())
        return critic.to(translator.model.device)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the value before each token [batch, target]: it depends on the source and earlier tokens only."""
        hidden = self.body.hidden_states(self.body.encode(source), shift_right(target))
        return torch.sigmoid(self.head(hidden))[:, :, 0]

    def loss(self, sources: Sequence[list[int]], targets: Sequence[list[int]], rewards: Sequence[float]) -> Tensor:
        """Return the mean squared error per token, with torch's graph."""
        padded = pad(targets, self.body.device)
        values = self(pad(sources, self.body.device), padded)
        return squared_error(values, torch.tensor(rewards).to(values), token_mask(padded))

    def save_parameters(self) -> Snapshot:
        return Snapshot({name: tensor.detach().cpu().numpy().copy() for name, tensor in self.named_parameters()})

    def load_parameters(self, snapshot: Snapshot) -> None:
        """Take over what ``save_parameters`` returned; raise KeyError or RuntimeError if it is of another critic."""
        with torch.no_grad():
            for name, tensor in self.named_parameters():
                tensor.copy_(torch.from_numpy(snapshot.arrays[name]))


def squared_error(values: Tensor, rewards: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over all tokens of (value - reward)^2; ``values`` and ``mask`` are [batch, target]."""
    errors = (values - rewards.unsqueeze(1)).square() * mask
    return errors.sum() / mask.sum()


def token_advantages(reward: float, values: Tensor) -> Tensor:
    """Return how much the reward exceeds the value before each token, as constants."""
    return reward - values.detach()
