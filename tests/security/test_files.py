"""Hostile files at the command line are refused in one line that names them, in bounded time and memory."""

import gzip
import json

import pytest

from corpora.errors import CorpusError
from lambdas.errors import OrganiserError
from lambdas.store import open_store
from simulator import cli
from simulator.tasks import load_task
from task import bounded_gzip
from tests.corpora.tasks import write_task

ENTITIES = '<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa">{}]>\n<tmx>&z;</tmx>'.format(
    "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(25))
)
OUTSIDE = '<!DOCTYPE tmx [<!ENTITY secret SYSTEM "file:///etc/hostname">]>\n<tmx>&secret;</tmx>'
FILES = {
    "bomb.tsv": (gzip.compress((b"a" * 50_000 + b"\t" + b"b" * 50_000 + b"\n") * 100), "decompression bomb"),
    "bomb.tmx": (ENTITIES.encode(), "defines the entity"),
    "outside.tmx": (OUTSIDE.encode(), "defines the entity"),
    "deep.tmx": (b"<tmx>" * 100_000, "nested more than"),
    "deep.jsonl": (b"[" * 100_000, "not JSON"),
    "digits.jsonl": (b'{"id": ' + b"1" * 5_000 + b"}", "not JSON"),
    "line.tsv": (b"x" * 2_000_000, "longer than"),
    "cut.tsv": (gzip.compress(b"a\tb\n" * 1_000)[:-20], "damaged or truncated gzip"),
    "zeros.mo": (bytes(10_000), "is not a valid gettext catalogue"),
    "latin.tsv": ("größe\tsize\n".encode("latin-1"), "not UTF-8"),
}


def error_lines(capsys):
    """The lines on standard error, without the empty ones that a progress bar leaves."""
    return [line for line in capsys.readouterr().err.splitlines() if line.strip()]


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_corpus_is_refused(name, tmp_path, capsys, monkeypatch):
    content, problem = FILES[name]
    monkeypatch.setattr(bounded_gzip, "MIN_UNPACKED_BOUND", 1 << 20)  # sixty times less than in production, to be fast
    path = tmp_path / name
    path.write_bytes(content)
    where = ["--out", str(tmp_path / "task"), "--source", "de", "--target", "en", "--processes", "1"]
    assert cli.run(["corpus", "import", *where, "--in-domain", str(path)]) == 1
    (line,) = error_lines(capsys)
    assert line.startswith("banditmt: ")
    assert (name in line, problem in line) == (True, True)
    assert not (tmp_path / "task").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"files": {"../../etc/passwd.gz": {"lines": 1, "bytes": 1, "sha256": "0" * 64}}},
        {"phases": {"../mock": {"blocks": 0, "block": 0, "gap": 1}}},
        {"phases": {"mock": {"blocks": 0, "block": 0, "gap": 10**18}}},
        {"source": "de/../../en"},
        {"seed": "__import__('os')"},
    ],
    ids=["path", "phase", "endless", "language", "code"],
)
def test_a_hostile_task_is_refused(changes, tmp_path, capsys):
    task = write_task(tmp_path / "task").path
    description = task / "task.json"
    description.write_text(json.dumps({**json.loads(description.read_text()), **changes}))
    assert cli.run(["corpus", "check", str(task)]) == 1
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err
    with pytest.raises((CorpusError, OrganiserError)):
        load_task(open_store(f"sqlite:{tmp_path / 'store'}"), task)
