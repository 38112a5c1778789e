"""Impossible records are refused with their line, although the file itself is complete and its checksum is right."""

import copy

import pytest

from lambdas.archive import Archive, ArchiveError
from lambdas.archive.file_format import ArchiveWriter, read_lines


@pytest.fixture
def forged(full, tmp_path):
    """A function that edits the lines of an archive and writes them with a right checksum."""
    lines = [(line.kind, copy.deepcopy(line.fields)) for line in read_lines(full)][:-1]

    def edited(edit):
        path = tmp_path / "forged.gz"
        with ArchiveWriter(path) as archive:
            for kind, fields in edit(lines):
                archive.write(kind, fields)
        return path

    return edited


def change(kind, /, number=0, **fields):
    """Change fields of one of the lines of this kind."""

    def edit(lines):
        [found for each, found in lines if each == kind][number].update(fields)
        return lines

    return edit


def first(lines, kind):
    return next(index for index, (each, _) in enumerate(lines) if each == kind)


def repeat(kind):
    """Repeat the first line of this kind."""
    return lambda lines: [*lines[: first(lines, kind)], lines[first(lines, kind)], *lines[first(lines, kind) :]]


def drop(kind):
    return lambda lines: [line for index, line in enumerate(lines) if index != first(lines, kind)]


def drop_all(kind):
    return lambda lines: [line for line in lines if line[0] != kind]


def append(kind):
    """Repeat the first line of this kind at the end."""
    return lambda lines: [*lines, lines[first(lines, kind)]]


def test_an_edit_that_changes_nothing(forged):
    archive = Archive.open(forged(lambda lines: lines))
    assert (archive.runs, archive.rounds, archive.header.texts, archive.header.keys) == (6, 59, True, True)


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        # duplicates, missing lines, and lines in the wrong place
        (repeat("phase"), "a duplicate phase"),
        (repeat("participant"), "a duplicate participant"),
        (repeat("role"), "a duplicate role"),
        (repeat("task"), "a duplicate task"),
        (repeat("team"), "a duplicate team"),
        (repeat("system"), "a duplicate system"),
        (repeat("run"), "a duplicate run"),
        (repeat("withdrawal"), "a duplicate withdrawal"),
        (repeat("key"), "a duplicate key"),
        (repeat("ring"), "a duplicate ring"),
        (repeat("round"), "round 0: round 1 should come here"),
        (drop("round"), "round 1: round 0 should come here"),
        (drop("text"), "has 4 distinct sentences, but the text has only 3"),
        (repeat("text"), "has 4 distinct sentences, but the text has more"),
        (drop_all("text"), "texts or keys are missing"),
        (drop_all("ring"), "texts or keys are missing"),
        (drop_all("participant"), "participant 'acme' is not in the archive"),
        (drop("phase"), "a run of phase 'training', which is not in the archive"),
        (append("phase"), "a phase is out of order"),
        (append("round"), "a run is out of order"),
        (change("archive", texts=False), "a text, although the header says that there is none"),
        (change("archive", keys=False), "a ring, although the header says that there is none"),
        # records that no service would have written
        (change("phase", name="../x"), "the phase has an invalid name, size or hash"),
        (change("phase", block_size=0), "the phase has an invalid name, size or hash"),
        (change("phase", fingerprint="f" * 64), "do not end with its fingerprint"),
        (change("phase", checkpoints=[]), "do not end with its fingerprint"),
        (change("phase", checkpoints=[7]), "a field is missing, unknown or invalid"),
        (change("phase", layout=[1, 2, 3]), "a gap lies between two held-out passes, but there is only one"),
        (change("phase", layout=[0, 0, 4.0]), "the phase has an invalid name, size or hash"),
        (change("phase", perturbation="none; drop"), "a field is missing, unknown or invalid"),
        (change("phase", state="ajar"), "a field is missing, unknown or invalid"),
        (change("phase", layout=[10**8, 4, 0]), "a phase has at most 1,000 held-out passes and 1,000,000,000 rounds"),
        (
            change("phase", layout=[0, 0, 10**9 + 1]),
            "a phase has at most 1,000 held-out passes and 1,000,000,000 rounds",
        ),
        (change("phase", layout=[2, 3, 10**8]), "has 1 checkpoints, but 100,000,003 distinct sentences have 1,333,334"),
        (change("phase", layout=[2, 3, 10**8], block_size=10**8), "the phase has an invalid name, size or hash"),
        (change("phase", schedule=["soon", None]), "the schedule of phase training is not two times"),
        (change("phase", schedule=[-1, None]), "the schedule of phase training is not two times"),
        (change("participant", name="<script>"), "the name of the participant is invalid"),
        (change("participant", created_at=2**63), "a field is missing, unknown or invalid"),
        (change("participant", disabled=0), "a field is missing, unknown or invalid"),
        (change("participant", formerly="x"), "the hash of the erased name is invalid"),
        (change("participant", extra=1), "a field is missing, unknown or invalid"),
        (change("role", kind="king"), "a field is missing, unknown or invalid"),
        (change("role", family="a b"), "the name of the system or of its family is invalid"),
        (change("role", family=7), "a field is missing, unknown or invalid"),
        (change("role", participant="nobody"), "participant 'nobody' is not in the archive"),
        (change("task", title="two\nlines"), "a field is missing, unknown or invalid"),
        (change("task", out_of_domain_url="javascript:alert(1)"), "a field is missing, unknown or invalid"),
        (change("task", source="../x"), "a field is missing, unknown or invalid"),
        (change("task", text={"signature": 1, "description": ""}), "the task has an invalid text convention"),
        (change("task", text={"signature": ""}), "a field is missing, unknown or invalid"),
        (
            change("task", out_of_domain={"../x": {"lines": 1, "bytes": 1, "sha256": "a" * 64}}),
            "a field is missing, unknown or invalid",
        ),
        (
            change("task", out_of_domain={"de": {"lines": 1, "bytes": -1, "sha256": "a" * 64}}),
            "the task has an invalid text convention, size or hash",
        ),
        (
            change("task", out_of_domain={"de": {"lines": 1, "bytes": 1, "sha256": "x"}}),
            "the task has an invalid text convention, size or hash",
        ),
        (change("team", participant="nobody"), "participant 'nobody' is not in the archive"),
        (change("team", url="javascript:alert(1)"), "a field is missing, unknown or invalid"),
        (change("team", display_name=["x"]), "a field is missing, unknown or invalid"),
        (change("system", participant="nobody"), "participant 'nobody' is not in the archive"),
        (change("system", system="<x>"), "the name of the system is invalid"),
        (change("system", description="two\nlines"), "a field is missing, unknown or invalid"),
        (change("withdrawal", run="a" * 26), "which is not in the archive, or of another phase"),
        (change("withdrawal", phase="dev"), "which is not in the archive, or of another phase"),
        (change("withdrawal", why=""), "a field is missing, unknown or invalid"),
        (change("withdrawal", withdrawn=1), "a field is missing, unknown or invalid"),
        (change("run", id="x"), "the run has an invalid id, system, attempt or key"),
        (change("run", attempt=0), "the run has an invalid id, system, attempt or key"),
        (change("run", key=256), "the run has an invalid id, system, attempt or key"),
        (change("run", number=3, attempt=1), "a duplicate attempt"),
        (change("run", number=1, attempt=3), "attempt 3 of a system, but it is number 1"),
        (change("run", id="a" * 26), "is not that of its participant, phase, system and attempt"),
        (change("key", digest="x"), "the hash of the API key is invalid"),
        (change("ring", secrets={"1": "x"}), "the token keys are missing or invalid"),
        (change("ring", secrets={"256": "0" * 64}), "the token keys are missing or invalid"),
        (change("ring", secrets={"1": "0" * 64, "01": "1" * 64}), "the token keys are missing or invalid"),
        (change("ring", secrets={}), "the token keys are missing or invalid"),
        # rounds that do not follow from those before them
        (change("round", translation=""), "the translation is empty"),
        (change("round", translation="two\nlines"), "a translation is one line of text"),
        (change("round", translation=None), "a field is missing, unknown or invalid"),
        (change("round", clean=0.5), "the true reward is 0.5, but its statistics give 0."),
        (change("round", clean=float("nan")), "a reward lies between 0 and 1"),
        (change("round", shown=1.5), "a reward lies between 0 and 1"),
        (change("round", shown=1), "a field is missing, unknown or invalid"),
        (change("round", statistics=[0] * 8), "a field is missing, unknown or invalid"),
        (change("round", statistics=[9, 0, 0, 0, 8, 7, 6, 5, 8]), "a field is missing, unknown or invalid"),
        (change("round", statistics=["1"] * 9), "a field is missing, unknown or invalid"),
        (change("round", clean_ticks=7), "round 0: the sums are not those of the rewards up to here"),
        (change("round", number=3, index=9), "round 9: round 0 should come here"),
        # texts that are not those of the phase
        (change("text", source="anders"), "with other sentences or rules"),
        (change("text", reference="two\nlines"), "is not one line"),
        (change("text", phase="other"), "a text of phase 'other', which is not in the archive"),
        (lambda lines: [*lines, ("joke", {})], "a field is missing, unknown or invalid"),
        (lambda lines: [*lines, ("key", [])], "a field is missing, unknown or invalid"),
    ],
)
def test_an_impossible_record_is_refused(forged, edit, problem):
    path = forged(edit)
    with pytest.raises(ArchiveError) as refused:
        Archive.open(path)
    message = str(refused.value)
    assert problem in message
    assert message.startswith(f"{path}, line ")
    assert "\n" not in message
