"""Pre-training learns, stops, resumes exactly where it was interrupted, and teaches to copy unknown tokens."""

from dataclasses import replace

import pytest
import torch

from learners.errors import DivergedError, SnapshotError, TrainingError
from learners.nmt.batches import Pair
from learners.nmt.plateau import PlateauConfig
from learners.nmt.pretraining import PretrainingConfig, PretrainingProgress, _Training, new_translator, train
from tests.learners.nmt.toys import ARCHITECTURES, TINY, toy_pairs

LEARNER = replace(TINY, embedding=32, encoder=16, decoder=32, heads=4, feed_forward=64, dropout=0.1)
IMPATIENT = PlateauConfig(patience=2, reductions=0)
SHORT = PretrainingConfig(max_steps=30, validate_every=10, mask_share=0.3, keep_checkpoints=2)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_toy_language_is_learned_and_unknown_characters_are_copied(architecture):
    pairs = toy_pairs()
    translator = new_translator(replace(LEARNER, architecture=architecture), pairs)
    losses = []
    config = PretrainingConfig(max_steps=400, validate_every=100, mask_share=0.4)
    train(translator, pairs, config, watch=lambda progress: losses.append(progress.held_out_loss))
    assert losses[-1] < losses[0] < 3
    right = sum(translator.greedy(source).text == target for source, target in pairs)
    assert right >= 0.9 * len(pairs)
    assert translator.beam("rot hemd mit tasche", 4).text == "red shirt with pocket"
    assert "☃" in translator.greedy("x ☃ y").text  # Sokolov et al. 2017, section 4.2


def trained(folder=None, config=SHORT, watch=None):
    translator = new_translator(LEARNER, toy_pairs())
    train(translator, toy_pairs(), config, folder=folder, watch=watch)
    return translator


def test_an_interrupted_training_ends_with_the_same_model(tmp_path):
    def interrupt(progress):
        if progress.step == 20:
            raise KeyboardInterrupt

    whole = trained()
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path, watch=interrupt)
    resumed = trained(tmp_path)
    assert torch.equal(resumed.vector, whole.vector)
    pairs = zip(resumed.ensemble_members, whole.ensemble_members, strict=True)
    assert len(whole.ensemble_members) == 2
    for one, other in pairs:
        assert all(torch.equal(*both) for both in zip(one.parameters(), other.parameters(), strict=True))


def test_a_finished_training_can_be_given_more_steps(tmp_path):
    trained(tmp_path, replace(SHORT, max_steps=10))
    assert torch.equal(trained(tmp_path).vector, trained().vector)


def test_the_same_seed_gives_the_same_model():
    assert torch.equal(trained().vector, trained().vector)
    assert not torch.equal(trained().vector, trained(config=replace(SHORT, seed=1)).vector)


def test_a_snapshot_of_another_training_is_refused(tmp_path):
    trained(tmp_path)
    with pytest.raises(SnapshotError, match="a snapshot of another training"):
        trained(tmp_path, replace(SHORT, seed=5))
    other_text = [(source, target.upper()) for source, target in toy_pairs()]  # as many pairs, other targets
    with pytest.raises(SnapshotError, match="a snapshot of another training"):
        train(new_translator(LEARNER, toy_pairs()), other_text, SHORT, folder=tmp_path)
    other_start = new_translator(LEARNER, toy_pairs(), seed=1)
    with pytest.raises(SnapshotError, match="a snapshot of another training"):
        train(other_start, toy_pairs(), SHORT, folder=tmp_path)
    (tmp_path / "training").write_bytes(b"nonsense")
    with pytest.raises(SnapshotError, match="not a snapshot"):
        trained(tmp_path)


def test_training_ends_by_itself_when_nothing_is_gained():
    seen: list[PretrainingProgress] = []
    config = PretrainingConfig(validate_every=5, plateau=IMPATIENT, learning_rate_factor=0.0)
    translator = trained(config=config, watch=seen.append)
    assert [progress.step for progress in seen] == [5, 10, 15]
    assert [progress.end for progress in seen] == ["", "", "converged: no gain in the last 2 validations"]
    assert seen[0].status == f"5 steps, loss {seen[0].best_loss:.3f}"
    assert seen[-1].status.endswith(", converged: no gain in the last 2 validations")
    assert translator.training_steps == 15


def test_a_toy_text_is_learned_until_it_has_converged():
    seen: list[PretrainingProgress] = []
    config = PretrainingConfig(validate_every=20, plateau=PlateauConfig(min_gain=0.1, patience=1, reductions=1))
    trained(config=config, watch=seen.append)
    assert seen[-1].end == "converged: no gain in the last 2 validations"
    assert seen[-1].best_loss < 0.5 * seen[0].held_out_loss


def test_a_training_stopped_at_its_bound_says_that_it_has_not_converged():
    seen: list[PretrainingProgress] = []
    trained(watch=seen.append)
    assert seen[0].status == f"10 of at most 30 steps, loss {seen[0].best_loss:.3f}"
    assert seen[-1].status == f"30 steps, loss {seen[-1].best_loss:.3f}, not converged: stopped at the bound"


@pytest.mark.parametrize("interrupted_at", [10, 15, 20])
def test_a_training_interrupted_on_a_plateau_ends_with_the_same_model(interrupted_at, tmp_path):
    config = PretrainingConfig(
        validate_every=5,
        max_steps=60,
        learning_rate_factor=0.1,
        plateau=PlateauConfig(min_gain=0.9, patience=2, reductions=3),
    )  # so much is never gained: every second validation halves the rate
    seen: list[PretrainingProgress] = []

    def interrupt(progress):
        if progress.step == interrupted_at:
            raise KeyboardInterrupt

    whole = trained(config=config, watch=seen.append)
    assert [progress.step for progress in seen] == [5, 10, 15, 20, 25, 30, 35, 40, 45]
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path, config, watch=interrupt)
    assert torch.equal(trained(tmp_path, config).vector, whole.vector)


def test_the_best_parameters_are_kept_not_the_last():
    best = {}

    def watch(progress):
        best[progress.step] = progress.held_out_loss

    config = PretrainingConfig(
        max_steps=40, validate_every=10, plateau=PlateauConfig(patience=10), learning_rate_factor=30.0
    )  # far too fast: it gets worse
    translator = trained(config=config, watch=watch)
    again: dict[str, float] = {}
    train(
        translator,
        toy_pairs(),
        replace(config, max_steps=1, learning_rate_factor=0.0),
        watch=lambda progress: again.update(loss=progress.held_out_loss),
    )
    assert again["loss"] == pytest.approx(min(best.values()))


def test_continued_training_takes_all_steps_and_keeps_the_last_parameters():
    seen: list[PretrainingProgress] = []
    config = PretrainingConfig(
        max_steps=40, validate_every=10, plateau=IMPATIENT, learning_rate_factor=30.0, continued_training=True
    )  # far too fast
    translator = trained(config=config, watch=seen.append)
    assert [progress.step for progress in seen] == [10, 20, 30, 40]
    again: list[PretrainingProgress] = []
    train(translator, toy_pairs(), replace(config, max_steps=1, learning_rate_factor=0.0), watch=again.append)
    assert again[0].held_out_loss == pytest.approx(seen[-1].held_out_loss)
    assert seen[-1].held_out_loss > seen[-1].best_loss


@pytest.mark.parametrize(
    ("inverse_sqrt", "continued", "shares"),
    [(True, False, [0.5, 1.0, 0.7071]), (True, True, [0.5, 1.0, 1.0]), (False, False, [0.5, 1.0, 1.0])],
)
def test_the_rate_decays_after_warm_up_unless_it_is_constant(inverse_sqrt, continued, shares):
    translator = new_translator(replace(LEARNER, warmup=10, inverse_sqrt=inverse_sqrt), toy_pairs())
    config = PretrainingConfig(max_steps=100, continued_training=continued)
    training = _Training(translator, toy_pairs(), config, lambda _: ())
    found = []
    for step in (5, 10, 20):
        training._step = step - 1
        found.append(training._rate_schedule())
    assert found == pytest.approx(shares, abs=1e-4)


def test_the_rate_is_halved_on_a_plateau():
    translator = new_translator(replace(LEARNER, warmup=10), toy_pairs())
    training = _Training(translator, toy_pairs(), PretrainingConfig(plateau=PlateauConfig(patience=1)), lambda _: ())
    training._step = 9
    for loss, share in ((2.0, 1.0), (2.0, 0.5), (1.0, 0.5), (1.0, 0.25)):
        training._plateau.update(loss)
        assert training._rate_schedule() == share


def test_continued_training_without_a_number_of_steps_is_refused():
    with pytest.raises(TrainingError, match="needs a number of steps"):
        trained(config=PretrainingConfig(continued_training=True))


def test_the_learning_rate_of_pretraining_replaces_the_models():
    translators = [new_translator(replace(LEARNER, learning_rate=rate), toy_pairs()) for rate in (1e-2, 1e-3)]
    for translator in translators:
        train(translator, toy_pairs(), PretrainingConfig(max_steps=3, learning_rate=5e-3, continued_training=True))
    assert torch.equal(translators[0].vector, translators[1].vector)


def test_held_out_pairs_are_neither_trained_on_nor_augmented():
    given: list[Pair] = []

    def augment(pairs):
        given.extend(pairs)
        return [("augmented", "augmented"), ("longer " * 60, "longer " * 60)]

    pairs = [(f"quelle {number}", f"source {number}") for number in range(50)]
    training = _Training(new_translator(LEARNER, toy_pairs()), pairs, PretrainingConfig(), augment)
    assert len(training._held_out) == 5
    assert len(given) == 45
    assert training._pairs == [*given, ("augmented", "augmented")]


def test_sentences_that_are_too_long_to_train_on_are_augmented():
    long = ("wort " * 60, "word " * 60)
    given: list[Pair] = []

    def augment(pairs):
        given.extend(pairs)
        return ()

    train(new_translator(LEARNER, toy_pairs()), [*toy_pairs(), long], PretrainingConfig(max_steps=1), augment=augment)
    assert long in given


def test_divergence_is_reported():
    translator = new_translator(LEARNER, toy_pairs())
    translator.vector.data.fill_(float("nan"))
    with pytest.raises(DivergedError, match="step 0"):
        train(translator, toy_pairs(), SHORT)


def test_training_leaves_torchs_random_state_alone():
    torch.manual_seed(4)
    expected = torch.rand(3)
    torch.manual_seed(4)
    trained(config=replace(SHORT, max_steps=2))
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("pairs", [[], [("rot", "red")]])
def test_too_few_pairs_are_refused(pairs):
    translator = new_translator(LEARNER, toy_pairs())
    with pytest.raises(TrainingError, match="at least two"):
        train(translator, pairs)
