"""The file format of archives: a file that is not complete and unchanged is refused, in one line."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.archive import file_format
from lambdas.archive.file_format import ArchiveError, ArchiveWriter, read_lines
from task import bounded_gzip

HEADER = {"format": "banditmt-archive", "version": 1}
LINES = [("archive", HEADER), ("one", {"text": "größe \u2028 ✓"}), ("two", [1, 0.1])]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "archive.gz"
    with ArchiveWriter(path) as archive_file:
        for kind, fields in LINES:
            archive_file.write(kind, fields)
    return path


def refusal(path):
    with pytest.raises(ArchiveError) as refused:
        list(read_lines(path))
    message = str(refused.value)
    assert str(path) in message
    assert "\n" not in message
    return message.removeprefix(str(path)).strip()


def rewritten(tmp_path, text):
    path = tmp_path / "other.gz"
    path.write_bytes(gzip.compress(text))
    return path


def test_lines_are_read_as_they_were_written(archive):
    read = list(read_lines(archive))
    assert [(line.kind, line.fields) for line in read[:-1]] == LINES
    assert [line.number for line in read] == [1, 2, 3, 4]
    assert read[-1][1:] == ("end", {"lines": 3, "sha256": read[-1][2]["sha256"]})


def test_any_program_can_read_the_format_but_only_the_owner_the_file(archive):
    with gzip.open(archive, "rt", encoding="utf-8") as text:
        assert [json.loads(line) for line in text][1] == {"one": {"text": "größe \u2028 ✓"}}
    assert archive.stat().st_mode & 0o777 == 0o600


@given(st.data())
def test_a_truncated_file_is_refused(archive, tmp_path_factory, data):
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
        read = list(read_lines(path))
    except ArchiveError:
        return
    assert read == list(read_lines(archive))


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (lambda text: b"", "is truncated: copy it again"),
        (lambda text: text[: text.rindex(b'{"end"')], "is truncated: copy it again"),
        (lambda text: text.replace("größe".encode(), b"grosse"), "was changed after it was written: lines are missing"),
        (lambda text: text.replace(b'{"two":[1,0.1]}\n', b""), "was changed after it was written: lines are missing"),
        (lambda text: text.replace(b'{"two":[1,0.1]}\n', b'{"two":[1,0.1]}\n' * 2), "was changed after it was written"),
        (lambda text: text + b'{"two":[1,0.1]}\n', "was changed after it was written: it has lines after its end"),
        (lambda text: text.replace(b'{"two":[1,0.1]}', b'{"two":[1,0.1'), "is damaged in line 3"),
        (lambda text: text.replace(b'{"two":[1,0.1]}', b'{"two":1,"three":2}'), "is damaged in line 3"),
        (lambda text: text.replace(b'{"two":[1,0.1]}', b"[" * 100_000), "is damaged in line 3"),
        (lambda text: text.replace(b'"version":1', b'"version":3'), "has version 3 of the format, but this program"),
        (lambda text: text.replace(b'"banditmt-archive"', b'"another"'), "is not a banditmt archive"),
        (lambda text: b"some text\nand more\n", "is not a banditmt archive"),
        (lambda text: b"[]\n", "is not a banditmt archive"),
    ],
)
def test_a_changed_file_is_refused(archive, tmp_path, edit, problem):
    assert refusal(rewritten(tmp_path, edit(gzip.decompress(archive.read_bytes())))).startswith(problem)


def test_a_file_that_is_not_an_archive_is_refused(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("{}\n")
    assert refusal(plain).startswith("is damaged, or not a banditmt archive")
    with pytest.raises(ArchiveError, match=r"cannot read .*: No such file"):
        list(read_lines(tmp_path / "nowhere"))
    with pytest.raises(ArchiveError, match=r"cannot read .*: Is a directory"):
        list(read_lines(tmp_path))


def test_an_endless_line_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(file_format, "MAX_LINE_BYTES", 1_000)
    text = json.dumps({"archive": HEADER}).encode() + b'\n{"bomb":"' + b"0" * 10**6
    assert refusal(rewritten(tmp_path, text)) == "is damaged in line 2"


def test_a_decompression_bomb_of_many_lines_is_refused(tmp_path, monkeypatch):
    """The lines of records are remembered, so their number must be bounded, too."""
    monkeypatch.setattr(bounded_gzip, "MIN_UNPACKED_BOUND", 100_000)
    text = json.dumps({"archive": HEADER}).encode() + b'\n{"line":0}' * 100_000
    path = rewritten(tmp_path, text)
    assert len(text) > 200 * path.stat().st_size
    assert (
        refusal(path)
        == f"unpacks to more than {max(100_000, 200 * path.stat().st_size):,} bytes: a decompression bomb?"
    )


def test_a_failed_export_leaves_no_file(tmp_path):
    with (
        pytest.raises(TypeError, match="not JSON serializable"),
        ArchiveWriter(tmp_path / "archive.gz") as archive_file,
    ):
        archive_file.write("archive", object())
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_overwritten(archive):
    with pytest.raises(ArchiveError, match="exists already; remove it or choose another name"), ArchiveWriter(archive):
        pass
    assert len(list(read_lines(archive))) == 4


def test_a_folder_that_does_not_exist(tmp_path):
    path = tmp_path / "nowhere" / "archive.gz"
    with pytest.raises(ArchiveError, match=r"cannot write .*: No such file"), ArchiveWriter(path):
        pass
