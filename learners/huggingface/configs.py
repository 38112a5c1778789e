"""The configs of systems with a model of transformers."""

from dataclasses import dataclass, field

from learners.bandit.expected_loss import ExpectedLossConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.bandit.self_imitation import SelfImitationConfig
from learners.errors import SettingError
from learners.settings import check_bounds

SOURCE_MARK = "{source}"


@dataclass(frozen=True, kw_only=True)
class HuggingFaceConfig:
    """Which model, and how it reads and writes."""

    name: str = ""  # the folder of a model, or its name on the hub; it has no default
    # Of a causal model: what it continues, up to the end of the line.
    prompt: str = "German: {source} English:"
    # The first token of every translation, which multilingual models choose the target language by.
    first_target_token: str = ""
    # Moses tokens of the task are joined before the model reads them, and its output is lowercased and tokenised: for
    # models that were trained on plain text.
    plain_text: bool = False
    source_language: str = "de"  # of Moses' rules for plain text
    target_language: str = "en"  # likewise
    max_source_tokens: int = 256  # a longer source is cut
    max_target_tokens: int = 128  # a longer translation is cut
    device: str = "auto"  # cpu, cuda, or whichever there is
    lora_rank: int = 0  # of LoRA adapters, which learn instead of the model; 0: the model itself learns
    lora_alpha: int = 16  # the adapters are scaled by alpha / rank
    lora_targets: str = "all-linear"  # the layers that get adapters, as peft names them

    def __post_init__(self) -> None:
        check_bounds(
            self, max_source_tokens=(2, None), max_target_tokens=(2, None), lora_rank=(0, None), lora_alpha=(1, None)
        )
        if SOURCE_MARK not in self.prompt:
            raise SettingError(f"prompt must contain {SOURCE_MARK}, where the sentence goes")


@dataclass(frozen=True, kw_only=True)
class HuggingFaceStaticConfig:
    """A model as it is."""

    beam: int = 1  # 1 is greedy
    model: HuggingFaceConfig = field(default_factory=HuggingFaceConfig)

    def __post_init__(self) -> None:
        check_bounds(self, beam=(1, None))


@dataclass(frozen=True, kw_only=True)
class HuggingFaceSamplingConfig:
    """The control of expected loss: the same samples, without learning."""

    schedule: AnnealingSchedule = field(default_factory=AnnealingSchedule)
    model: HuggingFaceConfig = field(default_factory=HuggingFaceConfig)


@dataclass(frozen=True, kw_only=True)
class HuggingFaceExpectedLossConfig(ExpectedLossConfig):
    """Expected loss; the model's own dropout is on while it learns if ``dropout`` is above 0."""

    model: HuggingFaceConfig = field(default_factory=HuggingFaceConfig)


@dataclass(frozen=True, kw_only=True)
class HuggingFaceSelfImitationConfig(SelfImitationConfig):
    """Self-imitation; the model's own dropout is on while it learns if ``dropout`` is above 0."""

    model: HuggingFaceConfig = field(default_factory=HuggingFaceConfig)
