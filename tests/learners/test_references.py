"""References by round: what a translation would earn, and the refusal of references of another task."""

import pytest

from leaderboard.metrics.chrf import sentence_chrf
from learners.errors import ReferencesError
from learners.references import PhaseReferences
from task.feedback import METRICS

REFERENCES = PhaseReferences("dev", "sentence-bleu", ["rot", "rot"], ["red", "crimson"])


def test_a_source_may_have_another_reference_in_another_round():
    assert REFERENCES.rewards(0, "rot", ["red", "crimson"]) == [1.0, pytest.approx(0.01)]
    assert REFERENCES.rewards(1, "rot", ["red", "crimson"]) == [pytest.approx(0.01), 1.0]


def test_the_metric_is_that_of_the_phase():
    chrf = PhaseReferences("dev", "chrf", ["rot"], ["red rope"])
    assert chrf.rewards(0, "rot", ["red rose"]) == [sentence_chrf("red rose", "red rope")]


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_of_a_phase_is_known(metric):
    assert PhaseReferences("dev", metric, ["rot"], ["red rope"]).rewards(0, "rot", ["red rope"]) == [pytest.approx(1.0)]


@pytest.mark.parametrize(
    ("index", "source", "complaint"),
    [
        (
            0,
            "blau",
            "round 0 of phase dev serves 'blau', but the references have 'rot' there: they are of another task",
        ),
        (2, "rot", "round 2 of phase dev serves 'rot', but the references have no sentence there: they are of another"),
    ],
)
def test_references_of_another_task_are_refused(index, source, complaint):
    with pytest.raises(ReferencesError, match=complaint):
        REFERENCES.rewards(index, source, ["red"])
