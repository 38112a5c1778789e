"""Context-aware seed models: which examples each learns from, files, and what is refused."""

import pytest

from learners.context.concatenation import ConcatTranslator, SentenceTranslator
from learners.context.two_pass import TwoPassTranslator
from learners.errors import SnapshotError, TrainingError
from learners.seed_models.catalogue import CADEC, CONCAT, CONTEXT_BASE, S_HIER_TO_2_TIED, with_requirements
from learners.seed_models.contextual import (
    CONTEXT_NETWORKS,
    _split,
    mixture,
    one_sentence_mixture,
    only_in_context,
    without_context,
)
from learners.seed_models.seed_model import TrainingTexts
from learners.seed_models.settings import Size

DOCUMENTS = [[(f"s{number}", f"t{number}") for number in range(5)], [("alone", "allein")]]


def test_the_regime_of_the_paper():
    """All pairs alone; the mixture, in which groups of two and three are single sentences; only what has context."""
    assert [len(example.context) for example in without_context(DOCUMENTS)] == [0] * 6
    assert [len(example.context) for example in mixture(DOCUMENTS)] == [0, 0, 0, 3, 3, 0]
    assert [len(example.context) for example in one_sentence_mixture(DOCUMENTS)] == [0, 0, 0, 1, 1, 0]
    assert [len(example.context) for example in only_in_context(DOCUMENTS)] == [1, 2, 3, 3]
    assert mixture(DOCUMENTS)[4].context == (("s1", "t1"), ("s2", "t2"), ("s3", "t3"))
    assert one_sentence_mixture(DOCUMENTS)[4].context == (("s3", "t3"),)


def test_the_published_sizes_and_rates():
    paper = CONTEXT_NETWORKS[Size.PAPER]
    assert (paper.layers, paper.heads, paper.embedding, paper.feed_forward) == (6, 8, 512, 2_048)
    assert (paper.vocabulary_size, paper.warmup, paper.batch_tokens) == (32_000, 16_000, 16_000)
    scales = [model.learning_rate_scales[Size.PAPER] for model in (CONTEXT_BASE, CONCAT, CADEC)]
    assert scales == [4.0, 4.0, 1.0]
    config = CADEC.training_config(Size.PAPER)
    assert (config.averaged_checkpoints, CADEC.drafts.corruption, CADEC.drafts.corruption_probability) == (5, 0.2, 0.5)


def test_cadec_is_trained_on_the_model_without_context():
    assert with_requirements([CADEC]) == [CONTEXT_BASE, CADEC]
    assert all(model.needs_documents for model in (CONTEXT_BASE, CONCAT, S_HIER_TO_2_TIED, CADEC))


def test_the_last_long_documents_are_held_out():
    texts = TrainingTexts([], documents=[DOCUMENTS[0], DOCUMENTS[1], DOCUMENTS[0], DOCUMENTS[0], DOCUMENTS[0]])
    training, development = _split(texts, 1)
    assert (len(training), len(development.documents)) == (4, 1)
    assert len(_split(texts, 40)[1].documents) == 2  # never more than half of them


def test_a_text_without_documents_is_refused():
    with pytest.raises(TrainingError, match=r"has no documents.*banditmt corpus dialogue"):
        _split(TrainingTexts([], documents=[[("a", "b")], [("c", "d")]]), 1)


def test_trained_models_are_files_with_their_curves(store):
    base, concat, cadec = (store.load(model) for model in (CONTEXT_BASE, CONCAT, CADEC))
    assert type(base.translator) is SentenceTranslator
    assert type(concat.translator) is ConcatTranslator
    assert isinstance(cadec.translator, TwoPassTranslator)
    assert [point.step for point in cadec.curve] == [50, 100]
    own = cadec.translator.base.parameters.vector
    assert own.tolist() == base.translator.parameters.vector.tolist()  # the base model is frozen


def test_a_file_of_another_kind_is_refused(store):
    with pytest.raises(SnapshotError, match="is not a model of kind concat"):
        CONCAT.load(store.path(CONTEXT_BASE))
