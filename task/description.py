"""What ``task.json`` says about a task; ``docs/task-format.md`` documents it.

A task has up to four *parts*: out-of-domain text, on which seed models are trained, and the phases. A part is one file
for each language, line-aligned. A task may also have *documents*: a third file for each part, with the id of the
document that each line is from. A document id is any text on one line. Lines with the same id are from the same
document, in their order; an empty line says that the document is unknown.

Format 2 can say more than format 1: kinds and metrics of feedback, also by phase, and what participants should know of
the task. A task that needs none of this is written in format 1, which older versions of this program read.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NoReturn

from task.feedback import SENTENCE_BLEU, FeedbackError, FeedbackKind, FeedbackSpec, find_kind, find_metric
from task.languages import LOWERCASED_MOSES, LanguagePair, TextConvention, is_language
from task.layout import Layout, LayoutError
from task.phases import PHASES, Phase
from task.public_texts import MAX_TITLE_CHARACTERS, PublicTextError, check_public_text, check_url

FORMATS = (1, 2)
OUT_OF_DOMAIN = "out-of-domain"
PARTS = (OUT_OF_DOMAIN, *PHASES)
DOCUMENTS = "documents"  # stands where a language stands in the names of the files of document ids
UNKNOWN_DOCUMENT = ""  # the document id of a line that is from no known document

_SHA256 = re.compile(r"[0-9a-f]{64}")
_ENTRIES = {"format", "source", "target", "seed", "generator", "licence", "phases", "files", "cleaning", "feedback"}
_ADDED_ENTRIES = {"about", "documents"}  # in format 2
_LAYOUT_ENTRIES = {"blocks", "block", "gap"}
_FEEDBACK_ENTRIES = {1: {"perturbation", "signature"}, 2: {"kind", "metric", "perturbation", "signature"}}  # by format


class DescriptionError(ValueError):
    """A text is not the description of a task; ``line`` is known if it is not even JSON."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def file_name(part: str, side: str) -> str:
    """Return the name of one file of a part; ``side`` is a language code or ``DOCUMENTS``."""
    return f"{part}.{side}.gz"


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What a file holds. Size and digest are those of the text, so no version of zlib changes them."""

    lines: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class AboutTask:
    """What participants should know of a task beside its text; empty texts for what the organiser does not say.

    Raises PublicTextError for a text that cannot be shown to the public.
    """

    title: str = ""
    contact: str = ""  # an address or a URL
    out_of_domain_url: str = ""  # where participants find the out-of-domain text

    def __post_init__(self) -> None:
        if self.title:
            check_public_text(self.title, "the title", MAX_TITLE_CHARACTERS)
        if self.contact:
            check_public_text(self.contact, "the contact")
        if self.out_of_domain_url:
            check_url(self.out_of_domain_url, "the out-of-domain URL")


EMPTY_ABOUT = AboutTask()


@dataclass(frozen=True, slots=True)
class TaskDescription:
    """What ``task.json`` says."""

    languages: LanguagePair
    generator: str  # what made the text, with its version
    licence: str  # of the text
    feedback: FeedbackSpec  # its seed is that of the task: the text was made with it, too
    signature: str = ""  # of the feedback, as the program that wrote the task knew it; that of ``feedback`` by default
    phases: Mapping[str, Layout] = field(default_factory=dict)
    files: Mapping[str, FileSummary] = field(default_factory=dict)
    cleaning: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # by part: pairs read, and removed by step
    phase_feedback: Mapping[str, FeedbackSpec] = field(default_factory=dict)  # of phases that differ from ``feedback``
    about: AboutTask = EMPTY_ABOUT
    serves_documents: bool = False  # whether participants see where documents begin and end

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", self.signature or self.feedback.signature)
        for name in self.phases:
            self.phase(name)  # raises LayoutError if feedback and layout contradict each other

    @property
    def seed(self) -> int:
        return self.feedback.seed

    @property
    def convention(self) -> TextConvention:
        return LOWERCASED_MOSES

    @property
    def has_documents(self) -> bool:
        return any(name.endswith(f".{DOCUMENTS}.gz") for name in self.files)

    @property
    def format(self) -> int:
        """The lowest format that can say all of this."""
        classic = (FeedbackKind.BANDIT, SENTENCE_BLEU)
        needs_more = (self.feedback.kind, self.feedback.metric) != classic or self.phase_feedback
        return 2 if needs_more or self.serves_documents or self.about != EMPTY_ABOUT else 1

    def phase(self, name: str) -> Phase:
        """Return a phase of the task. Raises KeyError if it has none of this name."""
        feedback = self.phase_feedback.get(name, self.feedback)
        return replace(PHASES[name], layout=self.phases[name], feedback=feedback, documents=self.serves_documents)

    def to_json(self) -> str:
        """Return the text of ``task.json``."""
        content: dict[str, Any] = {
            "format": self.format,
            "source": self.languages.source,
            "target": self.languages.target,
            "seed": self.seed,
            "generator": self.generator,
            "licence": self.licence,
            "phases": {
                name: {"blocks": layout.blocks, "block": layout.block, "gap": layout.gap}
                for name, layout in self.phases.items()
            },
            "files": {name: asdict(summary) for name, summary in self.files.items()},
            "cleaning": {part: dict(steps) for part, steps in self.cleaning.items()},
            "feedback": self._feedback_entries(self.feedback, self.signature),
        }
        for name, feedback in self.phase_feedback.items():
            content["phases"][name]["feedback"] = self._feedback_entries(feedback, feedback.signature)
        if self.format > 1:
            content |= {"about": asdict(self.about), "documents": self.serves_documents}
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

    def _feedback_entries(self, feedback: FeedbackSpec, signature: str) -> dict[str, str]:
        more = {"kind": feedback.kind.value, "metric": feedback.metric.name} if self.format > 1 else {}
        return {**more, "perturbation": feedback.noise, "signature": signature}


def parse_description(text: str) -> TaskDescription:
    """Parse ``task.json``. Raises DescriptionError naming what is missing, unknown or of the wrong kind."""
    content = _record(_parse_json(text), "the file")
    number = content.get("format")
    if number not in FORMATS or isinstance(number, bool):  # to Python, True is 1
        formats = " and ".join(map(str, FORMATS))
        raise DescriptionError(f"format is {number!r}, but this version reads formats {formats}")
    _check_keys(content, _ENTRIES | (_ADDED_ENTRIES if number > 1 else set()), "the file")
    seed = _integer(content["seed"], "seed")
    phases = {name: _record(value, f"phases.{name}") for name, value in _record(content["phases"], "phases").items()}
    own_feedback = {
        name: _feedback(phase.pop("feedback"), number, seed, f"phases.{name}.feedback")[0]
        for name, phase in phases.items()
        if number > 1 and "feedback" in phase
    }
    feedback, signature = _feedback(content["feedback"], number, seed, "feedback")
    try:
        return TaskDescription(
            LanguagePair(_language(content["source"], "source"), _language(content["target"], "target")),
            _text(content["generator"], "generator"),
            _text(content["licence"], "licence"),
            feedback,
            signature,
            {name: _layout(name, value) for name, value in phases.items()},
            {name: _file(name, value) for name, value in _record(content["files"], "files").items()},
            {part: _steps(part, value) for part, value in _record(content["cleaning"], "cleaning").items()},
            own_feedback,
            _about(content["about"]) if number > 1 else EMPTY_ABOUT,
            number > 1 and _boolean(content["documents"], "documents"),
        )
    except LayoutError as wrong:
        raise DescriptionError(str(wrong)) from None


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as wrong:
        raise DescriptionError(f"not JSON: {wrong.msg}", wrong.lineno) from None
    except (ValueError, RecursionError) as wrong:  # a number of thousands of digits, or nested without end
        raise DescriptionError(f"not JSON that a task has: {wrong}") from None


def _record(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DescriptionError(f"{name} should be an object, but is {type(value).__name__}")
    return value


def _check_keys(record: dict[str, Any], wanted: set[str], name: str) -> None:
    if missing := wanted - record.keys():
        raise DescriptionError(f"{name} lacks {', '.join(sorted(missing))}")
    if unknown := record.keys() - wanted:
        raise DescriptionError(f"{name} has unknown entries: {', '.join(sorted(unknown))}")


def _text(value: Any, name: str) -> str:
    return value if isinstance(value, str) else _raise_wrong_type(value, name, "text")


def _boolean(value: Any, name: str) -> bool:
    return value if isinstance(value, bool) else _raise_wrong_type(value, name, "true or false")


def _integer(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):  # to Python, True is an integer
        _raise_wrong_type(value, name, "a whole number")
    return value


def _raise_wrong_type(value: Any, name: str, wanted: str) -> NoReturn:
    raise DescriptionError(f"{name} is {value!r}, but should be {wanted}")


def _count(value: Any, name: str) -> int:
    number = _integer(value, name)
    if number < 0:
        raise DescriptionError(f"{name} is negative")
    return number


def _language(value: Any, name: str) -> str:
    code = _text(value, name)
    if not is_language(code):
        raise DescriptionError(f"{name} is {code!r}, which is not a language code")
    return code


def _feedback(value: Any, number: int, seed: int, name: str) -> tuple[FeedbackSpec, str]:
    """Return the feedback that an entry of a format describes, and the signature that was written with it."""
    entries = _record(value, name)
    _check_keys(entries, _FEEDBACK_ENTRIES[number], name)
    texts = {key: _text(entry, f"{name}.{key}") for key, entry in entries.items()}
    classic = {"kind": FeedbackKind.BANDIT.value, "metric": SENTENCE_BLEU.name}
    said = classic | texts
    try:
        spec = FeedbackSpec(said["perturbation"], seed, find_kind(said["kind"]), find_metric(said["metric"]))
    except FeedbackError as wrong:
        raise DescriptionError(f"{name}: {wrong}") from None
    return spec, said["signature"]


def _about(value: Any) -> AboutTask:
    entries = _record(value, "about")
    _check_keys(entries, set(asdict(EMPTY_ABOUT)), "about")
    try:
        return AboutTask(**{key: _text(entry, f"about.{key}") for key, entry in entries.items()})
    except PublicTextError as wrong:
        raise DescriptionError(f"about: {wrong}") from None


def _layout(name: str, value: Any) -> Layout:
    if name not in PHASES:
        raise DescriptionError(f"unknown phase {name!r}; known are {', '.join(PHASES)}")
    record = _record(value, f"phases.{name}")
    _check_keys(record, _LAYOUT_ENTRIES, f"phases.{name}")
    try:
        return Layout(**{key: _count(number, f"phases.{name}.{key}") for key, number in record.items()})
    except LayoutError as wrong:
        raise DescriptionError(f"phase {name} cannot be laid out: {wrong}") from None


def _file(name: str, value: Any) -> FileSummary:
    if "/" in name or "\\" in name or not name.endswith(".gz"):
        raise DescriptionError(f"files names {name!r}, which is not a file of a task")
    record = _record(value, f"files.{name}")
    _check_keys(record, {"lines", "bytes", "sha256"}, f"files.{name}")
    digest = _text(record["sha256"], f"files.{name}.sha256")
    if not _SHA256.fullmatch(digest):
        raise DescriptionError(f"files.{name}.sha256 is not a SHA-256 digest")
    lines, size = (_count(record[key], f"files.{name}.{key}") for key in ("lines", "bytes"))
    return FileSummary(lines, size, digest)


def _steps(part: str, value: Any) -> dict[str, int]:
    return {step: _count(number, f"cleaning.{part}.{step}") for step, number in _record(value, part).items()}
