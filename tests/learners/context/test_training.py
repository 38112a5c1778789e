"""Training in context: rates, what ends it, averaging, and exact resume."""

import pytest
import torch

from learners.context.training import (
    ContextTrainingConfig,
    ContextTrainingProgress,
    CurvePoint,
    DevelopmentSets,
    _Training,
    document_bleu,
    learning_rate,
    train_in_context,
    translate_documents,
)
from learners.errors import SnapshotError, TrainingError
from tests.learners.context import tiny
from tests.learners.context.test_translators import GROUPS

DEVELOPMENT = DevelopmentSets([[("well .", "tja ."), ("go home .", "geh nach hause .")]], {"deixis_dev": GROUPS})
CONFIG = ContextTrainingConfig(max_steps=6, validate_every=2, averaged_checkpoints=2)


def test_the_published_rates_peak_after_warm_up():
    assert learning_rate(4.0, 512, 16_000, 16_000) == pytest.approx(0.001398, abs=1e-6)
    assert learning_rate(1.0, 512, 16_000, 16_000) == pytest.approx(0.000349, abs=1e-6)
    assert learning_rate(4.0, 512, 16_000, 8_000) == pytest.approx(0.001398 / 2, abs=1e-6)
    assert learning_rate(4.0, 512, 16_000, 64_000) == pytest.approx(0.001398 / 2, abs=1e-6)


def training_with(curve, **changes):
    training = _Training(tiny.sentence(), tiny.examples(), DEVELOPMENT, ContextTrainingConfig(patience=2, **changes))
    training.curve = [CurvePoint(step, bleu, {"a": a}) for step, (bleu, a) in enumerate(curve)]
    return training


def test_training_goes_on_while_consistency_rises_and_bleu_does_not():
    assert training_with([(30.0, 50.0), (30.0, 52.0), (30.0, 54.0), (30.0, 56.0)]).end == ""


def test_training_ends_when_neither_rises():
    stale = [(30.0, 50.0), (30.1, 50.1), (30.2, 50.2)]  # by less than the minimum gain
    assert training_with(stale).end == "converged: no gain in the last 2 validations"
    assert training_with(stale[:2]).end == ""


def test_the_result_is_the_mean_of_the_last_checkpoints():
    translator = tiny.sentence()
    training = _Training(translator, tiny.examples(), DEVELOPMENT, CONFIG)
    while not training.end:
        training.advance()
    assert len(training._checkpoints) == 2
    training.finish()
    torch.testing.assert_close(translator.parameters.vector.data, sum(training._checkpoints) / 2)


@pytest.mark.parametrize("kind", ["sentence", "cadec"])
def test_an_interrupted_training_ends_with_the_same_model(kind, tmp_path):
    whole, resumed = tiny.KINDS[kind](), tiny.KINDS[kind]()
    curve = train_in_context(whole, tiny.examples(), DEVELOPMENT, CONFIG)

    def interrupt(progress):
        if progress.step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_in_context(tiny.KINDS[kind](), tiny.examples(), DEVELOPMENT, CONFIG, folder=tmp_path, watch=interrupt)
    seen: list[ContextTrainingProgress] = []
    again = train_in_context(resumed, tiny.examples(), DEVELOPMENT, CONFIG, folder=tmp_path, watch=seen.append)
    assert [progress.step for progress in seen] == [6]
    assert again == curve
    assert torch.equal(whole.parameters.vector, resumed.parameters.vector)


def test_a_snapshot_of_another_training_is_refused(tmp_path):
    train_in_context(tiny.sentence(), tiny.examples(), DEVELOPMENT, CONFIG, folder=tmp_path)
    with pytest.raises(SnapshotError, match="is a snapshot of another training"):
        train_in_context(tiny.sentence(), tiny.examples(3), DEVELOPMENT, CONFIG, folder=tmp_path)


def test_nothing_to_train_on_is_an_error():
    with pytest.raises(TrainingError, match="needs out-of-domain text with documents"):
        train_in_context(tiny.sentence(), [], DEVELOPMENT, CONFIG)


def test_documents_are_translated_in_order_with_their_own_translations():
    translator = tiny.two_pass()
    asked = []
    translate = translator.translate

    def record(examples, *, beam):
        asked.extend(examples)
        return translate(examples, beam=beam)

    translator.translate = record
    found = translate_documents(translator, [["well .", "go home ."], ["it is late ."]], beam=1)
    assert [len(texts) for texts in found] == [2, 1]
    assert [example.context for example in asked] == [(), (), (("well .", found[0][0]),)]


def test_progress_says_bleu_and_every_set():
    seen: list[ContextTrainingProgress] = []
    train_in_context(tiny.sentence(), tiny.examples(), DEVELOPMENT, CONFIG, watch=seen.append)
    assert seen[-1].status.startswith("6 steps, BLEU ")
    assert ", deixis_dev " in seen[-1].status
    assert seen[-1].status.endswith("not converged: stopped at the bound")
    assert document_bleu(tiny.sentence(), DEVELOPMENT.documents, beam=1) >= 0.0
