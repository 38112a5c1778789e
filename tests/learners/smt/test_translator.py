"""Model files round-trip, and anything else is an error."""

import mmap
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from learners import slow_notice
from learners.errors import SnapshotError, TrainingError
from learners.segmentation.compounds import CompoundSplitter
from learners.smt import hiero_decoder
from learners.smt.configs import DecoderKind
from learners.smt.model_file import HEADER_BYTES, MAGIC, read_model_file, write_model_file
from learners.smt.translator import SmtTranslator
from tests.learners.smt.toy_language import CONFIG, PAIRS, sentences, translator
from tests.learners.timers import wait_for_timers


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("smt") / "toy.smt"
    saved = translator(DecoderKind.PHRASE_BASED)
    saved.weights = np.arange(14) / 7
    saved.save(path)
    return path


def test_a_saved_translator_loads_unchanged(file):
    loaded = SmtTranslator.load(file)
    assert loaded.kind is DecoderKind.PHRASE_BASED
    assert loaded.config == CONFIG
    assert loaded.weights.tolist() == (np.arange(14) / 7).tolist()
    original = translator(DecoderKind.PHRASE_BASED)
    for source in sentences(10):
        expected = original.forest(source, original.weights)
        found = loaded.forest(source, original.weights)
        assert found.best(original.weights).translation == expected.best(original.weights).translation
        assert np.array_equal(found.graph.features, expected.graph.features)


def test_the_other_decoder_starts_with_initial_weights(file):
    assert SmtTranslator.load(file, DecoderKind.PHRASE_BASED).weights[1] == 1 / 7
    other = SmtTranslator.load(file, DecoderKind.HIERO)
    assert other.kind is DecoderKind.HIERO
    assert other.weights.tolist() == translator(DecoderKind.HIERO).weights.tolist()
    assert other.forest("ist", other.weights).best(other.weights).translation == "is"


def test_arrays_are_memory_mapped(file):
    arrays, _ = read_model_file(file)
    for array in arrays.values():
        memory: Any = array
        while not isinstance(memory, mmap.mmap):
            memory = memory.obj if isinstance(memory, memoryview) else memory.base
            assert memory is not None


def test_arrays_keep_the_names_of_the_file_format(file):
    arrays, _ = read_model_file(file)
    assert list(arrays) == [
        "child_keys",
        "child_nodes",
        "first_rule",
        "source_count",
        "rule_count",
        "lexical",
        "fluency",
        "target_start",
        "target",
        "ngram_keys",
        "ngram_values",
        "source_words",
        "target_words",
    ]


def test_writing_to_an_array_leaves_the_file_unchanged(file):
    before = file.read_bytes()
    arrays, _ = read_model_file(file)
    arrays["lexical"][:] = 0.0
    assert file.read_bytes() == before


def test_the_same_text_gives_the_same_file(tmp_path):
    made = []
    for name in ("one", "two"):
        SmtTranslator.train(PAIRS[:8], CONFIG).save(tmp_path / name)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]


def with_flipped_bit(data, position):
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: b"", "is not a statistical model"),
        (lambda data: b"banditmt-snapshot-1\n" + data, "is not a statistical model"),
        (lambda data: data[: HEADER_BYTES - 3], "is cut short"),
        (lambda data: data[:HEADER_BYTES], "is cut short"),
        (lambda data: data[:-1], "is damaged or cut short"),
        (lambda data: with_flipped_bit(data, HEADER_BYTES + 5), "is damaged or cut short"),
        (lambda data: with_flipped_bit(data, len(data) - 9), "is damaged or cut short"),
    ],
)
def test_damaged_and_foreign_files_are_errors(file, tmp_path, damage, reason):
    broken = tmp_path / "broken.smt"
    broken.write_bytes(damage(file.read_bytes()))
    with pytest.raises(SnapshotError, match=reason) as refused:
        SmtTranslator.load(broken)
    assert "\n" not in str(refused.value)
    assert str(broken) in str(refused.value)


def _without(arrays, values, name):
    return {key: array for key, array in arrays.items() if key != name}, values


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda arrays, values: (arrays, values | {"format": "smt 1"}),
            "of this version",
        ),  # with another hash function
        (lambda arrays, values: (arrays, values | {"kind": "neural"}), "lacks a part"),
        (lambda arrays, values: (arrays, values | {"weights": {}}), "lacks a part"),
        (lambda arrays, values: (arrays, values | {"recipe": {"order": 3}}), "another version"),
        (lambda arrays, values: _without(arrays, values, "target"), "lacks a part"),
    ],
)
def test_files_of_other_versions_are_errors(file, tmp_path, change, reason):
    arrays, values = change(*read_model_file(file))
    write_model_file(tmp_path / "other.smt", arrays, values)
    with pytest.raises(SnapshotError, match=f"{tmp_path / 'other.smt'}.*{reason}"):
        SmtTranslator.load(tmp_path / "other.smt")


def test_an_impossible_description_is_an_error(tmp_path):
    description = b'{"values": {}, "arrays": [["a", "O", [1], 0]]}'
    start = MAGIC + zlib.crc32(description).to_bytes(4, "little") + len(description).to_bytes(8, "little")
    (tmp_path / "odd.smt").write_bytes(start + description)
    with pytest.raises(SnapshotError, match="though it looks like one"):
        read_model_file(tmp_path / "odd.smt")


def test_an_empty_text_is_an_error():
    with pytest.raises(TrainingError, match="empty text"):
        SmtTranslator.train([("", "nothing"), ("nichts", "")])


def test_training_reports_its_stages():
    lines: list[str] = []
    SmtTranslator.train(PAIRS[:8], CONFIG, report=lines.append, monolingual=["a dog barks"])
    assert [line.split()[0] for line in lines] == ["aligning", "counting", "extracting", "learned"]


def test_monolingual_text_adds_words_to_the_language_model():
    more = SmtTranslator.train(PAIRS[:8], CONFIG, monolingual=["a dog barks"])
    best = more.forest("barks", more.weights).best(more.weights)
    assert dict(zip(more.features, best.features, strict=True))["LanguageModel_OOV"] == 0


def test_slow_compilation_prints_a_notice(monkeypatch, capsys):
    decode = hiero_decoder.decode_hiero

    def slow(*arguments):
        wait_for_timers()
        return decode(*arguments)

    monkeypatch.setattr(slow_notice, "NOTICE_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(hiero_decoder, "decode_hiero", slow)
    decoder = translator()
    decoder.forest("hund", decoder.weights)
    assert capsys.readouterr().err == "compiling the statistical decoder, once on this machine: about a minute\n"


def test_search_limits_can_be_changed_after_training():
    decoder = translator()
    decoder.config = replace(CONFIG, pop_limit=1)
    narrow = decoder.forest("den hund habe ich gesehen", decoder.weights)
    assert len(narrow.graph.tails) < len(translator().forest("den hund habe ich gesehen", decoder.weights).graph.tails)


COMPOUNDS = [*PAIRS, *(2 * [("hundeball", "dog ball"), ("der briefmann", "the postman")])]


def splitting_translator():
    splitter = CompoundSplitter.learn((source for source, _ in COMPOUNDS), "de")
    return SmtTranslator.train(COMPOUNDS, CONFIG, splitter=splitter)


def best(translator, source):
    return translator.forest(source, translator.weights).best(translator.weights).translation


def test_unknown_compounds_are_translated_in_parts(tmp_path):
    splitting = splitting_translator()
    assert best(splitting, "ist gekauft : ballbrief") == "is bought : ball letter"
    assert best(translator(), "ist gekauft : ballbrief") == "is bought : ballbrief"
    splitting.save(tmp_path / "split.smt")
    loaded = SmtTranslator.load(tmp_path / "split.smt")
    assert best(loaded, "ist gekauft : ballbrief") == "is bought : ball letter"


def test_words_whose_parts_are_copied_are_whole_in_all_translations():
    splitting = splitting_translator()
    forest = splitting.forest("der foo-brief", splitting.weights)
    copied = SmtTranslator.train([("der", "the"), ("brief", "brief")], CONFIG, splitter=splitting.model.splitter)
    assert best(copied, "der foo-brief") == "the foo-brief"
    assert forest.best(splitting.weights).translation == "the foo letter"
    copies = copied.forest("der foo-brief", copied.weights)
    listed = copies.k_best(copied.weights, 5)
    assert listed[0].translation == "the foo-brief"
    assert len({one.translation for one in listed}) == len(listed)
    assert copies.log_probability("the foo-brief", copied.weights) > -10
    sampled = copies.sample(copied.weights, np.random.default_rng(1)).translation
    assert copies.log_probability(sampled, copied.weights) <= 0
