"""A model of transformers behind the methods of ``learners.nmt.translator.Translator``.

Sampling and greedy search are our own loop over the model's cache: it draws from exactly the distribution whose
gradient ``backward`` adds, without the penalties and truncations of ``generate``. Only beam search is ``generate``'s.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from learners.contract import PLACEHOLDER, truncate_to_limit
from learners.errors import LearnerError
from learners.huggingface.configs import HuggingFaceConfig
from learners.huggingface.plain_text import PlainText
from learners.nmt.hypothesis import Hypothesis, Sample
from learners.nmt.parameters import FlatParameters
from learners.temperature import MIN_TEMPERATURE

Choose = Callable[[Tensor], int]  # returns the index of the next token from the log-probabilities of all
MAX_LENGTH_RATIO = 3  # tokens of output per token of source, at most
SPARE_TOKENS = 10  # that a short source may have in addition


class HuggingFaceTranslator:
    """A translator with a model and a tokeniser of transformers."""

    def __init__(self, model: Any, tokeniser: Any, config: HuggingFaceConfig) -> None:
        """Take a model that is on its device already; its trainable parameters become views of one vector.

        Args:
            model: An encoder-decoder or a causal model, or one with adapters of peft.
            tokeniser: Its tokeniser.
            config: How it reads and writes.
        """
        self.model = model.eval()
        self.config = config
        self.parameters = FlatParameters(model, [one for one in model.parameters() if one.requires_grad])
        self._tokeniser = tokeniser
        self._plain_text = PlainText(config.source_language, config.target_language) if config.plain_text else None
        self._is_encoder_decoder = bool(model.config.is_encoder_decoder)
        self._ends = _end_tokens(model, tokeniser)
        self._never = _padding(model, tokeniser) - self._ends
        self._prefix = self._decoder_prefix()

    @property
    def vector(self) -> torch.nn.Parameter:
        """All trainable parameters as one vector; ``vector.grad`` holds the gradient."""
        return self.parameters.vector

    def greedy(self, source: str) -> Hypothesis:
        """Translate greedily: the most probable token at each step."""
        source_ids = self._encode(source)
        ids, log_probability = self._decode(source_ids, lambda scores: int(scores.argmax()), 1.0)
        return self._hypothesis(source, source_ids, ids, log_probability)

    def beam(self, source: str, size: int) -> Hypothesis:
        """Translate with transformers' beam search; its log-probability is that of the tokens at temperature 1."""
        source_ids = self._encode(source)
        inputs = torch.tensor([source_ids], device=self.model.device)
        options: dict[str, Any] = {"decoder_input_ids": inputs.new_tensor([self._prefix])} if self._prefix else {}
        if self._never:
            options["suppress_tokens"] = sorted(self._never)
        with torch.no_grad():
            (output,) = self.model.generate(
                inputs,
                attention_mask=torch.ones_like(inputs),
                num_beams=size,
                do_sample=False,
                max_new_tokens=self._max_length(source_ids),
                **options,
            ).tolist()
            ids = self._until_end(output[len(self._prefix or source_ids) :])
            log_probability = float(self.log_probabilities([source_ids], [ids]).sum())
        return self._hypothesis(source, source_ids, ids, log_probability)

    def sample(self, source: str, temperature: float, rng: np.random.Generator) -> Sample:
        """Sample a translation from the tempered distribution; greedily below ``MIN_TEMPERATURE``.

        A sample that has no text gets the text of the greedy translation, and is marked as a fallback.
        """
        source_ids = self._encode(source)
        uniforms = iter(rng.random(self._max_length(source_ids)))
        is_greedy = temperature < MIN_TEMPERATURE

        def draw(scores: Tensor) -> int:
            if is_greedy:
                return int(scores.argmax())
            cumulative = scores.double().exp().cumsum(0)
            drawn = torch.searchsorted(cumulative, cumulative.new_tensor(next(uniforms)) * cumulative[-1], right=True)
            return min(int(drawn), len(scores) - 1)

        ids, log_probability = self._decode(source_ids, draw, 1.0 if is_greedy else temperature)
        whole = self._to_text(ids)
        text = truncate_to_limit(whole) or self.greedy(source).text
        logged = None if is_greedy or text != whole else min(log_probability, 0.0)
        return Sample(
            source_ids,
            ids,
            text,
            log_probability,
            1.0 if is_greedy else temperature,
            is_fallback=not whole,
            text_log_probability=logged,
        )

    def backward(self, sample: Sample, weight: Any, *, entropy: float = 0.0) -> None:
        """Add the gradient of ``-sum_t weight_t log p_t(y_t) - entropy * sum_t H(p_t)`` at the sample's temperature."""
        scores = self._scores([sample.source_ids], [sample.ids], sample.temperature)[0]  # [target, vocabulary]
        chosen = scores.gather(1, torch.tensor([sample.ids], device=scores.device).T)[:, 0]  # [target]
        weights = torch.as_tensor(np.broadcast_to(weight, len(sample.ids)).copy(), dtype=chosen.dtype)
        loss = -(weights.to(chosen.device) * chosen).sum()
        if entropy:
            finite = scores.masked_fill(scores.isinf(), 0.0)  # 0 log 0 is 0, and so is its gradient
            loss = loss + entropy * (scores.exp() * finite).sum()
        loss.backward()

    def backward_likelihood(
        self, sources: Sequence[list[int]], targets: Sequence[list[int]], weights: Sequence[float]
    ) -> None:
        """Add the gradient of ``-sum_i weight_i log p(target_i | source_i)``, whatever produced the targets."""
        per_pair = self.log_probabilities(sources, targets).sum(1)
        (-per_pair @ per_pair.new_tensor(weights)).backward()

    def log_probabilities(
        self, sources: Sequence[list[int]], targets: Sequence[list[int]], temperature: float = 1.0
    ) -> Tensor:
        """Return token log-probabilities [batch, target] with torch's graph; exactly 0 after a target's end."""
        scores = self._scores(sources, targets, temperature)
        padded = torch.tensor(_pad(targets, max(map(len, targets)), 0), device=scores.device)
        chosen = scores.gather(2, padded.unsqueeze(2))[:, :, 0]
        lengths = torch.tensor([len(target) for target in targets], device=scores.device)
        inside = torch.arange(chosen.shape[1], device=scores.device) < lengths.unsqueeze(1)
        return chosen.masked_fill(~inside, 0.0)

    def _scores(self, sources: Sequence[list[int]], targets: Sequence[list[int]], temperature: float) -> Tensor:
        """Return the log-probabilities of all tokens [batch, target, vocabulary] under teacher forcing."""
        longest, device = max(map(len, targets)), self.model.device
        if self._is_encoder_decoder:
            read, mask = _padded_inputs(sources, device)
            previous = torch.tensor(_pad([[*self._prefix, *one[:-1]] for one in targets], 0, 0), device=device)
            output = self.model(input_ids=read, attention_mask=mask, decoder_input_ids=previous)
            return self._normalise(output.logits[:, len(self._prefix) - 1 :], temperature)
        read, mask = _padded_inputs([[*a, *b[:-1]] for a, b in zip(sources, targets, strict=True)], device)
        logits = self.model(input_ids=read, attention_mask=mask).logits  # [batch, source + target, vocabulary]
        places = torch.tensor([[len(one) - 1 + step for step in range(longest)] for one in sources], device=device)
        places = places.clamp(max=logits.shape[1] - 1)
        return self._normalise(logits.gather(1, places.unsqueeze(2).expand(-1, -1, logits.shape[2])), temperature)

    def _normalise(self, logits: Tensor, temperature: float) -> Tensor:
        logits = logits.float() / temperature
        if self._never:
            logits = logits.index_fill(-1, torch.tensor(sorted(self._never), device=logits.device), -torch.inf)
        return logits.log_softmax(-1)

    def _decode(self, source_ids: list[int], choose: Choose, temperature: float) -> tuple[list[int], float]:
        """Return the chosen tokens up to an end, and the sum of their log-probabilities."""
        ids: list[int] = []
        log_probability = 0.0
        with torch.no_grad():
            step = self._first_step(source_ids)
            for _ in range(self._max_length(source_ids)):
                output = self.model(**step, use_cache=True)
                scores = self._normalise(output.logits[0, -1], temperature)
                ids.append(choose(scores))
                log_probability += float(scores[ids[-1]])
                if self._is_end(ids):
                    break
                step = self._next_step(step, ids[-1], output.past_key_values)
        return ids, log_probability

    def _first_step(self, source_ids: list[int]) -> dict[str, Any]:
        read = torch.tensor([source_ids], device=self.model.device)
        if not self._is_encoder_decoder:
            return {"input_ids": read}
        encoded = self.model.get_encoder()(read, attention_mask=torch.ones_like(read))
        return {"encoder_outputs": encoded, "decoder_input_ids": read.new_tensor([self._prefix])}

    def _next_step(self, step: dict[str, Any], token: int, cache: Any) -> dict[str, Any]:
        name = "decoder_input_ids" if self._is_encoder_decoder else "input_ids"
        return {**step, name: torch.tensor([[token]], device=self.model.device), "past_key_values": cache}

    def _encode(self, source: str) -> list[int]:
        text = self._plain_text.join(source) if self._plain_text else source
        if not self._is_encoder_decoder:
            text = self.config.prompt.replace("{source}", text)
        ids: list[int] = self._tokeniser(text)["input_ids"]
        # What is cut off is the middle: the end is an end symbol, or the end of the prompt.
        limit = self.config.max_source_tokens
        return ids if len(ids) <= limit else [*ids[: limit // 2], *ids[-(limit - limit // 2) :]]

    def _decoder_prefix(self) -> list[int]:
        """Return what a decoder has read before the first token that it chooses; nothing for a causal model."""
        if not self._is_encoder_decoder:
            return []
        model = self.model.config
        start = model.decoder_start_token_id
        if start is None:
            raise LearnerError(f"{self.config.name} does not say what its decoder starts with (decoder_start_token_id)")
        forced = getattr(self.model.generation_config, "forced_bos_token_id", None)
        if self.config.first_target_token:
            forced = self._tokeniser.convert_tokens_to_ids(self.config.first_target_token)
            if forced is None or forced == self._tokeniser.unk_token_id:
                raise LearnerError(f"{self.config.name} has no token {self.config.first_target_token!r}")
        return [start] if forced is None else [start, forced]

    def _max_length(self, source_ids: list[int]) -> int:
        return min(self.config.max_target_tokens, MAX_LENGTH_RATIO * len(source_ids) + SPARE_TOKENS)

    def _is_end(self, ids: list[int]) -> bool:
        """Return whether the last token ends the translation: a causal model may end it with the line."""
        return ids[-1] in self._ends or (not self._is_encoder_decoder and "\n" in self._tokeniser.decode(ids[-1:]))

    def _until_end(self, ids: list[int]) -> list[int]:
        for number in range(1, len(ids) + 1):
            if self._is_end(ids[:number]):
                return ids[:number]
        return ids

    def _to_text(self, ids: list[int]) -> str:
        line = self._tokeniser.decode(ids, skip_special_tokens=True).partition("\n")[0]
        return self._plain_text.tokenise(line) if self._plain_text else " ".join(line.split())

    def _hypothesis(self, source: str, source_ids: list[int], ids: list[int], log_probability: float) -> Hypothesis:
        own = self._to_text(ids)
        text = truncate_to_limit(own or source.strip()) or PLACEHOLDER
        return Hypothesis(source_ids, ids, text, log_probability, is_fallback=not own)


def _end_tokens(model: Any, tokeniser: Any) -> set[int]:
    ends = model.generation_config.eos_token_id
    found = {*(ends if isinstance(ends, list) else [ends]), tokeniser.eos_token_id} - {None}
    return {int(one) for one in found}


def _padding(model: Any, tokeniser: Any) -> set[int]:
    return {int(one) for one in {model.config.pad_token_id, tokeniser.pad_token_id} - {None}}


def _pad(rows: Sequence[Sequence[int]], length: int, padding: int) -> list[list[int]]:
    length = length or max(map(len, rows))
    return [[*row, *[padding] * (length - len(row))] for row in rows]


def _padded_inputs(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the ids and the mask of what is not padding; both [batch, length]."""
    mask = [[1] * len(row) for row in rows]
    return torch.tensor(_pad(rows, 0, 0), device=device), torch.tensor(_pad(mask, 0, 0), device=device)
