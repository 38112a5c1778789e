"""Networks can read compounds in parts, and a saved network reads them in the same way."""

from learners.nmt.translator import Translator
from learners.segmentation.compounds import CompoundSplitter
from tests.learners import tiny

SPLITTER = CompoundSplitter({"seil": 9, "decke": 9, "blau": 9}, "de")


def test_a_network_reads_the_parts_of_a_compound(tmp_path):
    translator = tiny.translator()
    whole = translator.encode_source("blau seildecke")
    translator.splitter = SPLITTER
    assert translator.encode_source("blau seildecke") == translator.encode_source("blau seil decke") != whole
    translator.save(tmp_path / "split.model")
    loaded = Translator.load(tmp_path / "split.model")
    assert loaded.encode_source("blau seildecke") == translator.encode_source("blau seil decke")
    assert loaded.greedy("blau seildecke").text == translator.greedy("blau seil decke").text


def test_a_network_without_a_splitter_is_saved_as_before():
    snapshot = tiny.translator().snapshot()
    assert "splitter" not in snapshot.values
    assert not [name for name in snapshot.arrays if name.startswith("splitter")]
