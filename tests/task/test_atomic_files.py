"""Files that appear whole or not at all."""

import os
import stat
import threading

import pytest

from task.atomic_files import PRIVATE, open_staged, staged_directory, staged_file, write_bytes


def names_in(folder):
    return [entry.name for entry in folder.iterdir()]


class Interrupted(BaseException):
    """Not an Exception, like Ctrl-C."""


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "board.json"
    write_bytes(path, b"old")
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert names_in(tmp_path) == ["board.json"]


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "snapshot"
    write_bytes(path, b"old")
    with open_staged(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [ValueError, Interrupted])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "snapshot"
    write_bytes(path, b"old")

    def fail():
        with open_staged(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["snapshot"]


def test_content_is_flushed_before_the_rename_and_the_directory_after_it(tmp_path, monkeypatch):
    path, steps = tmp_path / "ledger", []
    fsync, replace = os.fsync, type(path).replace

    def watched_fsync(descriptor):
        kind = "directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else f"file of {os.fstat(descriptor).st_size}"
        steps.append(f"flush {kind}")
        fsync(descriptor)

    def watched_replace(self, target):
        steps.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(type(path), "replace", watched_replace)
    write_bytes(path, b"12345")
    assert steps == ["flush file of 5", "rename", "flush directory"]


def test_a_private_file_is_never_readable_by_others(tmp_path):
    path = tmp_path / "archive"
    with open_staged(path, mode=PRIVATE) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_public_file_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o022)
    try:
        write_bytes(tmp_path / "page", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "page").stat().st_mode) == 0o644


def test_what_a_killed_process_left_behind_is_overwritten(tmp_path):
    path = tmp_path / "snapshot"
    for number in range(2):  # the same name both times: a container gives its process the same number again
        with staged_file(path) as staged:
            name = staged
        name.write_bytes(b"left behind")
        assert path.read_bytes() == b"", number


def test_threads_that_write_the_same_file_do_not_meet(tmp_path):
    path, contents = tmp_path / "page", [bytes([65 + number]) * 10_000 for number in range(8)]
    threads = [threading.Thread(target=write_bytes, args=(path, content)) for content in contents for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents
    assert names_in(tmp_path) == ["page"]


def test_a_directory_appears_with_all_that_is_in_it(tmp_path):
    path = tmp_path / "task"
    with staged_directory(path) as staged:
        (staged / "parts").mkdir()
        (staged / "parts" / "mock.de").write_text("seil\n")
        assert not path.exists()
    assert (path / "parts" / "mock.de").read_text() == "seil\n"
    assert names_in(tmp_path) == ["task"]


def test_a_directory_that_fails_leaves_nothing(tmp_path):
    def fail():
        with staged_directory(tmp_path / "task") as staged:
            (staged / "task.json").write_text("{}")
            raise ValueError("bad input")

    with pytest.raises(ValueError, match="bad input"):
        fail()
    assert names_in(tmp_path) == []


def test_a_directory_does_not_replace_one_that_holds_something(tmp_path):
    path = tmp_path / "task"
    path.mkdir()
    (path / "precious").write_text("")
    with pytest.raises(OSError, match="not empty"), staged_directory(path):
        pass
    assert names_in(tmp_path) == ["task"]
    assert names_in(path) == ["precious"]
