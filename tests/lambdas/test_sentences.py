"""Packed blocks of sentences, and the error when one is missing."""

import pytest

from lambdas.sentences import MissingBlockError, SentenceReader, pack_block, unpack_block
from lambdas.store import TextSide
from lambdas.task_loader import load_phase
from tests.lambdas import tasks


def test_a_packed_block_unpacks_to_the_same_sentences():
    text = ["eins", "größe ✓", " blanks  stay ", "u\u2028v"]
    assert unpack_block(pack_block(text)) == text


def test_a_missing_block_is_named_but_not_quoted(sqlite):
    record = load_phase(sqlite, tasks.DEV, tasks.pairs(tasks.DEV))
    sqlite._writer.execute('DELETE FROM "references"')
    with pytest.raises(MissingBlockError, match="block 0 of the references of phase dev is missing"):
        SentenceReader(sqlite).reference(record, 0)
    assert TextSide.SOURCES == "sources"
