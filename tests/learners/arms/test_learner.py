"""ARMS: which member plays, what each of them learns from, and an exact resume."""

import math
from collections.abc import Callable

import pytest

from learners.arms.choosers import Chooser, RewardChooser, SourceChooser
from learners.arms.learner import ArmsLearner
from learners.bandit.thompson import ThompsonSampling
from learners.bandit.ucb import Ucb1
from learners.contract import Feedback, Learner, Proposal, Sentence, as_proposal
from learners.errors import RewardError, SnapshotError
from learners.snapshot import Snapshot

LOG_HALF = math.log(0.5)


class Counter(Learner):
    """Proposes its name and the number of rounds that it has learned from, as if it had sampled them."""

    def __init__(self, name):
        self.name, self.seen = name, []

    def propose(self, sentence):
        return Proposal(f"{self.name} {len(self.seen)}", LOG_HALF)

    def update(self, sentence, translation, feedback):
        self.seen.append([sentence.source, translation, feedback.reward, feedback.post_edit])

    def measurements(self):
        return {"rounds": len(self.seen)}


def reward_of(source, translation):
    """Earn more with the first member for short sources, and with the second for long ones."""
    return 0.8 if translation.startswith("first") == (len(source.split()) < 3) else 0.1


CHOOSERS: dict[str, Callable[[], Chooser]] = {
    "UCB1": lambda: RewardChooser(Ucb1(2)),
    "Thompson": lambda: RewardChooser(ThompsonSampling(2)),
    "linear": lambda: SourceChooser(2, exploration=0.5, penalty=1.0),
}
SOURCES = ["a b", "c d e f g h", "i", "k l m n o p q"] * 10


def arms(chooser, seed=1, names=("first", "second")):
    members = {name: Counter(name) for name in names}
    return ArmsLearner(members, CHOOSERS[chooser](), seed=seed), members


def play(learner, sources):
    proposed = []
    for source in sources:
        sentence = Sentence(source)
        proposed.append(as_proposal(learner.propose(sentence)).translation)
        learner.update(sentence, proposed[-1], Feedback(reward_of(source, proposed[-1]), "corrected"))
    return proposed


@pytest.mark.parametrize("chooser", CHOOSERS)
def test_a_member_learns_only_from_the_rounds_in_which_it_was_played(chooser):
    learner, members = arms(chooser)
    proposed = play(learner, SOURCES)
    for name, member in members.items():
        own = [(source, text) for source, text in zip(SOURCES, proposed, strict=True) if text.startswith(name)]
        assert [(source, text) for source, text, *_ in member.seen] == own
        assert [text for _, text in own] == [f"{name} {number}" for number in range(len(own))]
        assert all(post_edit == "corrected" for *_, post_edit in member.seen)
        assert learner.plays[name] == len(own) > 0
    assert sum(learner.plays.values()) == len(SOURCES)


def test_the_linear_choice_depends_on_the_source():
    play(learner := arms("linear")[0], SOURCES * 5)
    assert play(learner, ["x"])[0].startswith("first")
    assert play(learner, ["x y z x y z x"])[0].startswith("second")


@pytest.mark.parametrize("chooser", CHOOSERS)
@pytest.mark.parametrize("rounds", [0, 1, 2, 15])
def test_a_resumed_run_continues_exactly(chooser, rounds, tmp_path):
    undisturbed, _ = arms(chooser)
    expected = play(undisturbed, SOURCES)
    first, _ = arms(chooser)
    begun = play(first, SOURCES[:rounds])
    first.save().write(tmp_path / "snapshot")
    resumed, _ = arms(chooser, seed=2)
    resumed.load(Snapshot.read(tmp_path / "snapshot"))
    assert begun + play(resumed, SOURCES[rounds:]) == expected
    assert resumed.plays == undisturbed.plays


def test_the_probability_of_a_translation_is_known_unless_the_choice_is_random():
    assert arms("UCB1")[0].propose(Sentence("a")) == Proposal("first 0", LOG_HALF)
    assert arms("linear")[0].propose(Sentence("a")) == Proposal("first 0", LOG_HALF)
    assert isinstance(arms("Thompson")[0].propose(Sentence("a")), str)


def test_the_share_of_rounds_of_each_member_is_measured():
    learner, _ = arms("UCB1")
    play(learner, SOURCES[:2])
    assert learner.measurements() == {
        "share.first": 0.5,
        "share.second": 0.5,
        "first.rounds": 1,
        "second.rounds": 1,
    }


def test_a_snapshot_of_other_members_is_refused():
    learner, _ = arms("UCB1")
    with pytest.raises(SnapshotError, match="not one of ARMS 1 with first, second"):
        learner.load(arms("UCB1", names=("first", "third"))[0].save())


def test_a_wrong_reward_is_refused_before_anything_learns():
    learner, members = arms("UCB1")
    learner.propose(Sentence("a"))
    with pytest.raises(RewardError):
        learner.update(Sentence("a"), "first 0", Feedback(1.5))
    assert members["first"].seen == []
