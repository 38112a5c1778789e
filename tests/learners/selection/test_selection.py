"""Selection of out-of-domain pairs that resemble what was served."""

import pytest

from learners.errors import SettingError, TrainingError
from learners.selection.selection import SelectionConfig, select_pairs

SHOP = [f"{colour} {thing}" for colour in ("rotes", "blaues", "neues") for thing in ("seil", "hemd", "bett")]
NEWS = [
    f"{article} {who} sagte {what}"
    for article in ("der", "ein", "kein")
    for who in ("minister", "sprecher", "richter")
    for what in ("nein", "ja", "nichts")
]
PAIRS = [(source, source.upper()) for place, shop in enumerate(SHOP) for source in (*NEWS[place::9], shop)]


def test_the_pairs_that_resemble_what_was_served_are_selected_in_their_order():
    served = [
        f"{colour} {thing} gross" for colour in ("rotes", "blaues", "neues") for thing in ("seil", "hemd", "bett")
    ]
    chosen = select_pairs(PAIRS, served * 2, SelectionConfig(share=0.25))
    assert chosen == [pair for pair in PAIRS if pair[0] in SHOP]


def test_the_share_says_how_many_pairs_are_selected():
    served = ["rotes hemd", "neues seil"]
    assert len(select_pairs(PAIRS, served, SelectionConfig(share=0.25))) == 9
    assert len(select_pairs(PAIRS, served, SelectionConfig(share=0.0))) == 1  # never none
    assert select_pairs(PAIRS, served, SelectionConfig(share=1.0)) == PAIRS


def test_the_same_text_and_seed_select_the_same_pairs():
    served = ["rotes hemd", "minister sagte"]
    assert select_pairs(PAIRS, served) == select_pairs(PAIRS, served)


@pytest.mark.parametrize(("pairs", "served"), [([], ["rot"]), (PAIRS, [])])
def test_an_empty_text_is_refused(pairs, served):
    with pytest.raises(TrainingError, match="data selection needs out-of-domain pairs and sources that were served"):
        select_pairs(pairs, served)


@pytest.mark.parametrize("options", [{"share": 1.5}, {"order": 0}])
def test_impossible_settings_are_refused(options):
    with pytest.raises(SettingError, match="must be between"):
        SelectionConfig(**options)
