"""The schedule of MIXER."""

import pytest

from learners.bandit.mixer import MixerSchedule
from learners.errors import SettingError


def test_cross_entropy_gives_way_by_epochs():
    schedule = MixerSchedule(max_tokens=10, delta=2, epoch_rounds=100)
    assert [schedule.cross_entropy_tokens(epoch) for epoch in range(7)] == [10, 8, 6, 4, 2, 0, 0]
    assert [schedule.tokens_at(k) for k in (1, 100, 101, 500, 501, 9_999)] == [10, 10, 8, 2, 0, 0]


def test_a_schedule_that_never_ends_is_refused():
    with pytest.raises(SettingError, match="delta must be 1 or more, not 0"):
        MixerSchedule(delta=0)
