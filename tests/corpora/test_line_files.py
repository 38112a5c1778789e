"""Files of lines: bounded reading, reproducible writing."""

import gzip
import zlib
from pathlib import Path

import pytest

from corpora import line_files
from corpora.errors import InputError
from corpora.line_files import LineWriter, read_lines
from task import bounded_gzip
from task.description import FileSummary


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_plain_and_gzipped_files_are_read_alike_under_any_name(tmp_path):
    plain = write(tmp_path / "plain.gz", "größe\r\nzwei\n".encode())
    packed = write(tmp_path / "packed.txt", gzip.compress("größe\nzwei".encode()))
    assert list(read_lines(plain)) == list(read_lines(packed)) == ["größe", "zwei"]


def test_only_line_feeds_end_lines_and_a_byte_order_mark_is_dropped(tmp_path):
    file = write(tmp_path / "a", "\ufeffeins\u2028noch\x0beins\n\nzwei\n".encode())
    assert list(read_lines(file)) == ["eins\u2028noch\x0beins", "", "zwei"]


def test_wrong_encoding_is_refused_with_its_line(tmp_path):
    file = write(tmp_path / "latin1.de", "gut\ngröße\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin1\.de:2: is not UTF-8 \(byte 0xf6 at position 3\)"):
        list(read_lines(file))


def test_truncated_gzip_is_refused_with_its_line(tmp_path):
    whole = gzip.compress("".join(f"zeile {n * 7919}\n" for n in range(30_000)).encode())
    cut = whole[: len(whole) // 2]
    complete = zlib.decompressobj(wbits=31).decompress(cut).count(b"\n")
    with pytest.raises(InputError, match=rf"cut\.gz:{complete + 1}: is a damaged or truncated gzip"):
        list(read_lines(write(tmp_path / "cut.gz", cut)))


def test_corrupt_gzip_is_refused(tmp_path):
    packed = bytearray(gzip.compress(b"eins\nzwei\n"))
    packed[-6] ^= 0xFF  # in the checksum
    with pytest.raises(InputError, match="is a damaged or truncated gzip"):
        list(read_lines(write(tmp_path / "bad.gz", bytes(packed))))


def test_an_overlong_line_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(line_files, "MAX_LINE_BYTES", 10)
    with pytest.raises(InputError, match=r"long:2: is longer than 10 bytes"):
        list(read_lines(write(tmp_path / "long", b"123456789\n12345678901\n")))


def test_decompression_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(bounded_gzip, "MIN_UNPACKED_BOUND", 1 << 16)
    bomb = gzip.compress(b"a\n" * (1 << 20))
    with pytest.raises(InputError, match="decompression bomb"):
        list(read_lines(write(tmp_path / "bomb.gz", bomb)))


def test_writing_twice_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        with LineWriter(tmp_path / name) as writer:
            writer.write("größe")
            writer.write("zwei")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert gzip.decompress((tmp_path / "a").read_bytes()) == "größe\nzwei\n".encode()
    assert writer.summary == FileSummary(
        lines=2, bytes=13, sha256="d723fdb81ab4ea36036720f6b6e7193c5291dd58013f98913575d5370867be91"
    )


def test_an_existing_file_is_not_overwritten(tmp_path):
    write(tmp_path / "a", b"precious")
    with pytest.raises(FileExistsError):
        LineWriter(tmp_path / "a")
