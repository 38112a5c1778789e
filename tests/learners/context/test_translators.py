"""What all context-aware translators have in common: batches, scores, files."""

import pytest
import torch

from leaderboard.metrics.contrastive import ContrastiveGroup, judge_groups
from learners.context.examples import MAX_CONTEXT, Example, candidates_of, windows
from learners.context.model_files import read_translator
from learners.context.translator import split_at_separator
from learners.errors import SnapshotError
from learners.nmt.batches import pad, shift_right
from learners.snapshot import Snapshot
from tests.learners.context import tiny

GROUPS = [
    ContrastiveGroup(
        ("i am tired .", "are you alone ?"), ("ich bin müde .",), ("bist du allein ?", "sind sie allein ?"), 0, 1
    ),
    ContrastiveGroup(
        ("it is late .", "how are you ?", "go home ."),
        ("es ist spät .", "wie geht es ihnen ?"),
        ("geh nach hause .", "gehen sie nach hause ."),
        1,
        1,
    ),
]


@pytest.fixture(params=list(tiny.KINDS))
def translator(request):
    return tiny.KINDS[request.param]()


def test_windows_have_up_to_three_sentences_of_context():
    document = [(f"s{number}", f"t{number}") for number in range(1, 6)]
    made = windows([document])
    assert [example.source for example in made] == ["s4", "s5"]
    assert made[1] == Example("s5", (("s2", "t2"), ("s3", "t3"), ("s4", "t4")), "t5")
    assert [len(example.context) for example in windows([document], min_context=1)] == [1, 2, 3, 3]
    assert windows([document[:3]]) == []


def test_losses_in_batches_are_those_of_single_examples(translator):
    examples = [*tiny.examples(5), Example("go home .", (), "geh nach hause ."), *tiny.examples(2)]
    together = translator.sentence_losses(examples)
    alone = [translator.sentence_losses([example])[0] for example in examples]
    assert together == pytest.approx(alone, rel=1e-4)


def test_translations_in_batches_are_those_of_single_examples(translator):
    examples = [*tiny.examples(3), Example("go home .", ())]
    assert translator.translate(examples) == [translator.translate([example])[0] for example in examples]


def test_a_sentence_is_never_translated_to_nothing(translator):
    assert all(translator.translate([Example("", ()), Example("x", (("a", "b"),))]))


def test_the_whole_target_scores_like_the_last_sentence_up_to_a_constant():
    """Candidates of a group share their context, whose tokens add the same to each (but for a mean over tokens)."""
    translator = tiny.concat()
    examples = candidates_of(GROUPS)
    encoded = [translator.target_ids(example)[0] for example in examples]
    differences = []
    for example, ids, own in zip(examples, encoded, translator.sentence_losses(examples), strict=True):
        targets = pad([ids], translator.device)
        with torch.no_grad():
            logits = translator.decoder.decode(translator.encode([example]).encoded, shift_right(targets))
        whole = -float(logits.log_softmax(-1).gather(2, targets.unsqueeze(2)).sum())
        differences.append(whole - own)
    assert differences[0] == pytest.approx(differences[1], rel=1e-4)
    assert differences[2] == pytest.approx(differences[3], rel=1e-4)
    assert differences[0] > 1.0


def test_without_context_candidates_score_the_same_whatever_was_said_before():
    translator = tiny.sentence()
    group = GROUPS[0]
    other = ContrastiveGroup(("how are you ?", group.sources[1]), ("wie geht es ihnen ?",), group.candidates, 1, 1)
    losses = translator.group_losses([group, other])
    assert losses[:2] == pytest.approx(losses[2:])
    assert sum(judge_groups([group, other], losses)) == 1  # exactly one of both, whatever it prefers


@pytest.mark.parametrize("kind", ["concat", "s-hier-to-2.tied", "cadec"])
def test_with_context_they_do_not(kind):
    translator = tiny.KINDS[kind]()
    example = Example("are you alone ?", (("i am tired .", "ich bin müde ."),), "bist du allein ?")
    other = Example("are you alone ?", (("how are you ?", "wie geht es ihnen ?"),), "bist du allein ?")
    first, second = translator.sentence_losses([example, other])
    assert first != pytest.approx(second, rel=1e-6)


def test_only_the_last_sentences_within_reach_count():
    for translator, reach in ((tiny.hierarchical(), 1), (tiny.concat(), 3), (tiny.two_pass(), 3)):
        context = (
            ("a", "a"),
            ("go home .", "geh nach hause ."),
            ("it is late .", "es ist spät ."),
            ("well .", "tja ."),
        )
        long = Example("are you alone ?", context, "bist du allein ?")
        losses = translator.sentence_losses([long, long.limited(MAX_CONTEXT), long.limited(reach)])
        assert losses == pytest.approx([losses[0]] * 3, rel=1e-5)


def test_the_current_sentence_follows_the_last_separator():
    assert split_at_separator([7, 8, 4, 9, 8, 4, 10, 2], 4) == [10, 2]
    assert split_at_separator([7, 8, 2], 4) == [7, 8, 2]


def test_a_group_of_sentences_is_joined_by_separators():
    translator = tiny.concat()
    example = Example("go home .", (("it is late .", "es ist spät ."), ("well .", "tja .")), "geh nach hause .")
    ids, start = translator.target_ids(example)
    separator = translator.vocabulary.separator
    assert ids.count(separator) == 2
    assert ids[start:] == translator.target_ids(Example("", (), "geh nach hause ."))[0]
    assert translator.current_ids(ids) == ids[start:]


def test_a_file_holds_the_whole_translator(translator, tmp_path):
    translator.snapshot().write(tmp_path / "model")
    loaded = read_translator(tmp_path / "model")
    assert type(loaded) is type(translator)
    examples = tiny.examples(3)
    assert loaded.sentence_losses(examples) == pytest.approx(translator.sentence_losses(examples))


def test_any_neural_translator_scores_without_context(tmp_path):
    translator = tiny.sentence()
    translator.translator.save(tmp_path / "bnmt.model")
    assert read_translator(tmp_path / "bnmt.model").group_losses(GROUPS) == pytest.approx(
        translator.group_losses(GROUPS)
    )


def test_other_files_are_refused(tmp_path):
    Snapshot(values={"kind": "smt"}).write(tmp_path / "smt.model")
    with pytest.raises(SnapshotError, match="holds no neural translator"):
        read_translator(tmp_path / "smt.model")
    Snapshot(values={"kind": "cadec"}).write(tmp_path / "cadec.model")
    with pytest.raises(SnapshotError, match=r"cadec\.model: the snapshot has no part 'base'"):
        read_translator(tmp_path / "cadec.model")
