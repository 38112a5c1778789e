"""What an archive may say: whatever cannot be is refused with its line, though the file is whole."""

import copy

import pytest

from lambdas.archive import Archive, ArchiveError, lines
from lambdas.archive.lines import Writer


@pytest.fixture
def forged(full, tmp_path):
    """Write an archive anew after an edit of its lines, so that it vouches for itself."""
    said = [(kind, copy.deepcopy(says)) for _, kind, says in lines.read(full)][:-1]

    def edited(edit):
        path = tmp_path / "forged.gz"
        with Writer(path) as out:
            for kind, says in edit(said):
                out.write(kind, says)
        return path

    return edited


def change(kind, /, number=0, **fields):
    """Change fields of a line of this kind."""

    def edit(said):
        [says for each, says in said if each == kind][number].update(fields)
        return said

    return edit


def first(said, kind):
    return next(index for index, (each, _) in enumerate(said) if each == kind)


def repeat(kind):
    """Say something twice."""
    return lambda said: [*said[: first(said, kind)], said[first(said, kind)], *said[first(said, kind) :]]


def drop(kind):
    return lambda said: [line for index, line in enumerate(said) if index != first(said, kind)]


def drop_all(kind):
    return lambda said: [line for line in said if line[0] != kind]


def say_late(kind):
    return lambda said: [*said, said[first(said, kind)]]


def test_an_edit_that_changes_nothing(forged):
    archive = Archive.open(forged(lambda said: said))
    assert (archive.runs, archive.rounds, archive.header.texts, archive.header.keys) == (6, 59, True, True)


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        # what comes twice, not at all, or in the wrong place
        (repeat("phase"), "this phase came before"),
        (repeat("participant"), "this participant came before"),
        (repeat("role"), "this role came before"),
        (repeat("run"), "this run came before"),
        (repeat("key"), "this key came before"),
        (repeat("ring"), "this ring came before"),
        (repeat("round"), "round 0: round 1 should come here"),
        (drop("round"), "round 1: round 0 should come here"),
        (drop("text"), "has 4 distinct sentences, but the text has only 3"),
        (repeat("text"), "has 4 distinct sentences, but the text has more"),
        (drop_all("text"), "what the header announces did not come"),
        (drop_all("ring"), "what the header announces did not come"),
        (drop_all("participant"), "a participant 'acme' that the archive does not have"),
        (drop("phase"), "a run of a phase 'training' that the archive does not have"),
        (say_late("phase"), "a phase does not belong here"),
        (say_late("round"), "a run does not belong here"),
        (change("archive", texts=False), "a text, although the header announces none"),
        (change("archive", keys=False), "a ring, although the header announces none"),
        # what no service would have written
        (change("phase", name="../x"), "no phase can be like this"),
        (change("phase", block_size=0), "no phase can be like this"),
        (change("phase", fingerprint="f" * 64), "do not lead to its fingerprint"),
        (change("phase", checkpoints=[]), "do not lead to its fingerprint"),
        (change("phase", checkpoints=[7]), "what it says cannot be"),
        (change("phase", layout=[1, 2, 3]), "what it says cannot be"),
        (change("phase", layout=[0, 0, 4.0]), "no phase can be like this"),
        (change("phase", perturbation="none; drop"), "what it says cannot be"),
        (change("phase", state="ajar"), "what it says cannot be"),
        (change("participant", name="<script>"), "nobody can be called so"),
        (change("participant", created_at=2**63), "what it says cannot be"),
        (change("participant", disabled=0), "what it says cannot be"),
        (change("participant", formerly="x"), "no hash of a name can be like this"),
        (change("participant", extra=1), "what it says cannot be"),
        (change("role", kind="king"), "what it says cannot be"),
        (change("role", family="a b"), "no system or family can be called so"),
        (change("role", family=7), "what it says cannot be"),
        (change("role", participant="nobody"), "a participant 'nobody' that the archive does not have"),
        (change("run", id="x"), "no run can be like this"),
        (change("run", attempt=0), "no run can be like this"),
        (change("run", key=256), "no run can be like this"),
        (change("run", number=3, attempt=1), "this attempt came before"),
        (change("key", digest="x"), "no hash of a key can be like this"),
        (change("ring", secrets={"1": "x"}), "no token key can be like this"),
        (change("ring", secrets={"256": "0" * 64}), "no token key can be like this"),
        (change("ring", secrets={"1": "0" * 64, "01": "1" * 64}), "no token key can be like this"),
        (change("ring", secrets={}), "no token key can be like this"),
        # rounds that do not follow
        (change("round", translation=""), "the translation is empty"),
        (change("round", translation="two\nlines"), "a translation is one line of text"),
        (change("round", translation=None), "what it says cannot be"),
        (change("round", clean=0.5), "the score is 0.5, but its statistics earn 0."),
        (change("round", clean=float("nan")), "a score lies between 0 and 1"),
        (change("round", shown=1.5), "a score lies between 0 and 1"),
        (change("round", shown=1), "what it says cannot be"),
        (change("round", statistics=[0] * 8), "what it says cannot be"),
        (change("round", statistics=[9, 0, 0, 0, 8, 7, 6, 5, 8]), "what it says cannot be"),
        (change("round", statistics=["1"] * 9), "what it says cannot be"),
        (change("round", clean_ticks=7), "round 0: the sums are not those of the scores up to here"),
        (change("round", number=3, index=9), "round 9: round 0 should come here"),
        # texts of something else
        (change("text", source="anders"), "with other sentences or rules"),
        (change("text", reference="two\nlines"), "is not one line"),
        (change("text", phase="other"), "a text of a phase 'other' that the archive does not have"),
        (lambda said: [*said, ("joke", {})], "what it says cannot be"),
        (lambda said: [*said, ("key", [])], "what it says cannot be"),
    ],
)
def test_what_cannot_be(forged, edit, complaint):
    path = forged(edit)
    with pytest.raises(ArchiveError) as refused:
        Archive.open(path)
    message = str(refused.value)
    assert complaint in message
    assert message.startswith(f"{path}, line ")
    assert "\n" not in message
