"""An archive as a file: what is not whole and as it was written is refused in one line."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.archive import lines
from lambdas.archive.lines import ArchiveError, Writer

HEADER = {"format": "banditmt-archive", "version": 1}
SAID = [("archive", HEADER), ("one", {"text": "größe \u2028 ✓"}), ("two", [1, 0.1])]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "archive.gz"
    with Writer(path) as out:
        for kind, says in SAID:
            out.write(kind, says)
    return path


def refusal(path):
    with pytest.raises(ArchiveError) as refused:
        list(lines.read(path))
    message = str(refused.value)
    assert str(path) in message
    assert "\n" not in message
    return message.removeprefix(str(path)).strip()


def rewritten(tmp_path, text):
    path = tmp_path / "other.gz"
    path.write_bytes(gzip.compress(text))
    return path


def test_what_was_written_is_read(archive):
    read = list(lines.read(archive))
    assert [(kind, says) for _, kind, says in read[:-1]] == SAID
    assert [number for number, _, _ in read] == [1, 2, 3, 4]
    assert read[-1][1:] == ("end", {"lines": 3, "sha256": read[-1][2]["sha256"]})


def test_any_program_can_read_it_and_only_its_owner_may(archive):
    with gzip.open(archive, "rt", encoding="utf-8") as text:
        assert [json.loads(line) for line in text][1] == {"one": {"text": "größe \u2028 ✓"}}
    assert archive.stat().st_mode & 0o777 == 0o600


@given(st.data())
def test_a_file_cut_anywhere_is_refused(archive, tmp_path_factory, data):
    whole = archive.read_bytes()
    path = tmp_path_factory.mktemp("cut") / "cut.gz"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    assert refusal(path)


@given(st.data())
def test_a_file_with_a_flipped_bit_is_refused_or_reads_the_same(archive, tmp_path_factory, data):
    """Some bits of a gzip header mean nothing."""
    whole = bytearray(archive.read_bytes())
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path_factory.mktemp("flipped") / "flipped.gz"
    path.write_bytes(whole)
    try:
        read = list(lines.read(path))
    except ArchiveError:
        return
    assert read == list(lines.read(archive))


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (lambda text: b"", "is cut short: copy it again"),
        (lambda text: text[: text.rindex(b'{"end"')], "is cut short: copy it again"),
        (lambda text: text.replace("größe".encode(), b"grosse"), "is not as it was written: lines are missing"),
        (lambda text: text.replace(b'{"two":[1,0.1]}\n', b""), "is not as it was written: lines are missing"),
        (lambda text: text.replace(b'{"two":[1,0.1]}\n', b'{"two":[1,0.1]}\n' * 2), "is not as it was written"),
        (lambda text: text + b'{"two":[1,0.1]}\n', "goes on after its end"),
        (lambda text: text.replace(b'{"two":[1,0.1]}', b'{"two":[1,0.1'), "is damaged in line 3"),
        (lambda text: text.replace(b'{"two":[1,0.1]}', b'{"two":1,"three":2}'), "is damaged in line 3"),
        (lambda text: text.replace(b'{"two":[1,0.1]}', b"[" * 100_000), "is damaged in line 3"),
        (lambda text: text.replace(b'"version":1', b'"version":2'), "is in version 2 of the format, but this program"),
        (lambda text: text.replace(b'"banditmt-archive"', b'"another"'), "is no archive of banditmt"),
        (lambda text: b"some text\nand more\n", "is no archive of banditmt"),
        (lambda text: b"[]\n", "is no archive of banditmt"),
    ],
)
def test_what_is_not_as_it_was_written(archive, tmp_path, edit, complaint):
    assert refusal(rewritten(tmp_path, edit(gzip.decompress(archive.read_bytes())))).startswith(complaint)


def test_what_is_no_archive_at_all(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("{}\n")
    assert refusal(plain).startswith("is damaged, or no archive of banditmt at all")
    with pytest.raises(ArchiveError, match=r"cannot read .*: No such file"):
        list(lines.read(tmp_path / "nowhere"))
    with pytest.raises(ArchiveError, match=r"cannot read .*: Is a directory"):
        list(lines.read(tmp_path))


def test_a_line_without_end_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1_000)
    text = json.dumps({"archive": HEADER}).encode() + b'\n{"bomb":"' + b"0" * 10**6
    assert refusal(rewritten(tmp_path, text)) == "is damaged in line 2"


def test_an_interrupted_archive_leaves_nothing(tmp_path):
    with pytest.raises(TypeError, match="not JSON serializable"), Writer(tmp_path / "archive.gz") as out:
        out.write("archive", object())
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_overwritten(archive):
    with pytest.raises(ArchiveError, match="exists already; remove it or choose another name"), Writer(archive):
        pass
    assert len(list(lines.read(archive))) == 4


def test_a_folder_that_does_not_exist(tmp_path):
    path = tmp_path / "nowhere" / "archive.gz"
    with pytest.raises(ArchiveError, match=r"cannot write .*: No such file"), Writer(path):
        pass
