"""What ``task.json`` says of a task, and how it is read with care."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from corpora.errors import TaskError
from corpora.lines import FileSummary

FORMAT = 1
PHASES = ("mock", "dev", "training")
OUT_OF_DOMAIN = "out-of-domain"
PARTS = (OUT_OF_DOMAIN, *PHASES)
DOCUMENTS = "documents"  # stands where a language stands in the names of the optional files of document ids

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")  # BCP 47, as far as file names need it


def is_language(code: str) -> bool:
    """Whether this can be a language code, and thus part of a file name."""
    return _LANGUAGE.fullmatch(code) is not None


def file_name(part: str, language: str) -> str:
    """The name of one side of a part."""
    return f"{part}.{language}.gz"


@dataclass(frozen=True, slots=True)
class PhaseLayout:
    """How a phase is cut, as ``task.json`` says it."""

    blocks: int
    block: int
    gap: int


@dataclass(frozen=True, slots=True)
class Description:
    """What ``task.json`` says."""

    source: str  # language codes, as in the names of the files
    target: str
    seed: int
    generator: str  # what made the text, with its version
    licence: str  # of the text
    perturbation: str  # of the feedback: "none", or a kind and its number such as "granular:5"
    signature: str  # of the feedback
    phases: Mapping[str, PhaseLayout] = field(default_factory=dict)
    files: Mapping[str, FileSummary] = field(default_factory=dict)
    cleaning: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # per part: pairs read, removed per step

    @property
    def has_documents(self) -> bool:
        return any(name.endswith(f".{DOCUMENTS}.gz") for name in self.files)

    def to_json(self) -> str:
        content = asdict(self)
        feedback = {"perturbation": content.pop("perturbation"), "signature": content.pop("signature")}
        return json.dumps({"format": FORMAT, **content, "feedback": feedback}, indent=2, ensure_ascii=False) + "\n"


def parse_description(text: str, path: Path) -> Description:
    """Read ``task.json``; whatever is missing, unknown or of the wrong kind is refused by name."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as wrong:
        raise TaskError(f"{path}:{wrong.lineno}: not JSON: {wrong.msg}") from None
    except (ValueError, RecursionError) as wrong:  # a number of thousands of digits, or nested without end
        raise TaskError(f"{path}: not JSON that a task has: {wrong}") from None
    reader = _Reader(path)
    content = reader.record(content, "the file")
    if content.get("format") != FORMAT:
        raise TaskError(f"{path}: format is {content.get('format')!r}, but this version reads format {FORMAT}")
    names = {item.name for item in fields(Description)} - {"perturbation", "signature"}
    reader.keys(content, {"format", "feedback"} | names, "the file")
    feedback = reader.record(content["feedback"], "feedback")
    reader.keys(feedback, {"perturbation", "signature"}, "feedback")
    return Description(
        **{side: reader.language(content[side], side) for side in ("source", "target")},
        **{name: reader.value(content[name], str, name) for name in ("generator", "licence")},
        **{name: reader.value(feedback[name], str, f"feedback.{name}") for name in ("perturbation", "signature")},
        seed=reader.value(content["seed"], int, "seed"),
        phases={name: reader.layout(name, value) for name, value in reader.record(content["phases"], "phases").items()},
        files={name: reader.file(name, value) for name, value in reader.record(content["files"], "files").items()},
        cleaning={
            part: {
                step: reader.count(number, f"cleaning.{part}.{step}")
                for step, number in reader.record(steps, part).items()
            }
            for part, steps in reader.record(content["cleaning"], "cleaning").items()
        },
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Takes JSON apart, and says where it is not what it should be."""

    path: Path

    def fail(self, message: str) -> TaskError:
        return TaskError(f"{self.path}: {message}")

    def value(self, value: Any, kind: type, name: str) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.fail(f"{name} is {value!r}, but should be {'text' if kind is str else 'a whole number'}")
        return value

    def record(self, value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.fail(f"{name} should be an object, but is {type(value).__name__}")
        return value

    def keys(self, record: dict[str, Any], wanted: set[str], name: str) -> None:
        if missing := wanted - record.keys():
            raise self.fail(f"{name} lacks {', '.join(sorted(missing))}")
        if unknown := record.keys() - wanted:
            raise self.fail(f"{name} has unknown entries: {', '.join(sorted(unknown))}")

    def count(self, value: Any, name: str) -> int:
        number: int = self.value(value, int, name)
        if number < 0:
            raise self.fail(f"{name} is negative")
        return number

    def language(self, value: Any, name: str) -> str:
        code: str = self.value(value, str, name)
        if not is_language(code):
            raise self.fail(f"{name} is {code!r}, which is no language code")
        return code

    def layout(self, name: str, value: Any) -> PhaseLayout:
        if name not in PHASES:
            raise self.fail(f"unknown phase {name!r}; known are {', '.join(PHASES)}")
        record = self.record(value, f"phases.{name}")
        self.keys(record, {"blocks", "block", "gap"}, f"phases.{name}")
        return PhaseLayout(**{key: self.count(number, f"phases.{name}.{key}") for key, number in record.items()})

    def file(self, name: str, value: Any) -> FileSummary:
        if "/" in name or "\\" in name or not name.endswith(".gz"):
            raise self.fail(f"files names {name!r}, which is no file of a task")
        record = self.record(value, f"files.{name}")
        self.keys(record, {"lines", "bytes", "sha256"}, f"files.{name}")
        digest = self.value(record["sha256"], str, f"files.{name}.sha256")
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise self.fail(f"files.{name}.sha256 is no SHA-256 digest")
        counts = {key: self.count(record[key], f"files.{name}.{key}") for key in ("lines", "bytes")}
        return FileSummary(**counts, sha256=digest)
