"""Runs of ARMS: on the leaderboard, their gain is over the best of the members that played, too."""

from contextlib import closing

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import open_store
from learners.seed_models.catalogue import DICTIONARY
from simulator.competition import PlayState, play_run, seeded_run
from tests.simulator.small_task import make_competition


def test_the_leaderboard_compares_arms_with_its_best_member(tmp_path):
    competition = make_competition(tmp_path, [DICTIONARY])
    members = ["copy-source", "word-for-word"]
    specs = [seeded_run(name, 1) for name in members]
    specs.append(seeded_run("ARMS-UCB1-TUNED", 1, {"systems": ",".join(members)}))
    assert [play_run(competition, spec).state for spec in specs] == [PlayState.FINISHED] * 3
    with closing(open_store(competition.store)) as store:
        record, scoreboard = Registry(store).phase("dev"), Scoreboard(store)
        assert record is not None
        scoreboard.catch_up(record)
        rows = {row.system: row for row in scoreboard.board(record).rows}
    arms = rows["ARMS-UCB1-TUNED+systems-copy-source_word-for-word"]
    best = rows["word-for-word"]
    assert rows["copy-source"].mean_reward < arms.mean_reward < best.mean_reward
    assert arms.reward_gain is not None
    assert arms.reward_gain.baseline == best.run
    assert arms.system_description == "ARMS-UCB1-TUNED with systems=copy-source,word-for-word"
