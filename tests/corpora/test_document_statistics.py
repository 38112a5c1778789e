"""Statistics of documents, on a task that can be counted by hand."""

import pytest

from corpora.document_statistics import DocumentStatistics, measure_documents
from corpora.errors import CorpusError
from corpora.task import Pair, Task, TaskWriter, write_pairs
from task.description import OUT_OF_DOMAIN
from task.layout import Layout
from tests.corpora.tasks import description, write_task

PAIRS = [Pair("a b", "x", "one"), Pair("a b c", "x", "one"), Pair("d", "x", "two")]


def document_task(path, out_of_domain):
    with TaskWriter(path, description()) as writer:
        for part in ("mock", "dev", "training"):
            files = write_pairs(writer.directory, part, ("de", "en"), PAIRS, documents=True)
            writer.add(part, files, Layout.plain(3))
        if out_of_domain:
            files = write_pairs(writer.directory, OUT_OF_DOMAIN, ("de", "en"), out_of_domain, documents=True)
            writer.add(OUT_OF_DOMAIN, files)
    return Task.open(path)


def test_each_document_has_its_repetition_rate_and_its_unknown_words(tmp_path):
    task = document_task(tmp_path / "task", [Pair("a b", "x", "news")])
    rates = {2: 0.25, 1: None}
    assert measure_documents(task, lambda sentences: rates[len(sentences)], parts=["dev"]) == [
        DocumentStatistics("dev", "one", 2, 5, 0.25, 0.2),
        DocumentStatistics("dev", "two", 1, 1, None, 1.0),
    ]


def test_without_out_of_domain_text_no_word_is_known_or_unknown(tmp_path):
    measured = measure_documents(document_task(tmp_path / "task", []), lambda _: 0.0)
    assert [(one.phase, one.source_oov) for one in measured][::2] == [("mock", None), ("dev", None), ("training", None)]


def test_a_task_without_documents_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="has no documents: make the task with --documents"):
        measure_documents(write_task(tmp_path / "task"), lambda _: 0.0)
