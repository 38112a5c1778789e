"""The generated corpus: reproducible, apart between phases, and with the statistics of the task."""

import hashlib
import re
from itertools import islice
from statistics import mean, median, pstdev

import pytest

from corpora.checking import find_problems
from corpora.cleaning import Cleaner, CleaningSettings
from corpora.errors import CorpusError
from corpora.synth import CorpusGenerator, lexicon
from corpora.synth.generator import CHUNK_SIZE, DEPARTMENTS, news_chunk, shop_chunk
from corpora.synthesis import write_generated_task
from corpora.task import Pair
from leaderboard.metrics.bleu import sentence_bleu
from task.layout import Layout
from task.limits import MAX_IN_DOMAIN_TOKENS, MAX_OUT_OF_DOMAIN_TOKENS
from tests.corpora.tasks import description

TOKEN = re.compile(r"[^\W_]+(?:[-.'x²][^\W_]+)*[-.]?|[-,.;:!?/%°()+=\"]|'s")


@pytest.fixture(scope="module")
def training():
    return list(CorpusGenerator(1).in_domain("training", 12_000))


@pytest.fixture(scope="module")
def news():
    return list(CorpusGenerator(1).out_of_domain(3000))


def fingerprint(pairs):
    return hashlib.sha256("".join(f"{german}\t{english}\n" for german, english in pairs).encode()).hexdigest()


def test_the_text_of_a_seed_is_the_same_everywhere():
    generator = CorpusGenerator(7)
    assert fingerprint(generator.out_of_domain(300)) == NEWS_FINGERPRINT
    assert fingerprint(generator.in_domain("dev", 300)) == DEV_FINGERPRINT


def test_another_seed_gives_another_text(training):
    assert list(CorpusGenerator(2).in_domain("training", 100)) != training[:100]


def test_a_shorter_stream_is_a_prefix_of_a_longer_one(training):
    assert list(CorpusGenerator(1).in_domain("training", 500)) == training[:500]


def test_a_chunk_depends_only_on_its_address(news):
    assert news_chunk(1, None, 1) == news_chunk(1, None, 1)
    assert news_chunk(1, None, 1)[: len(news) - CHUNK_SIZE] == news[CHUNK_SIZE:]
    assert shop_chunk(1, None, "training", 3) != shop_chunk(1, None, "training", 4)


def test_a_shop_with_few_departments_has_a_smaller_vocabulary(training):
    small = CorpusGenerator(1, departments=3)
    vocabulary = {word for german, _ in small.in_domain("training", 3_000) for word in german.split()}
    assert len(vocabulary) < 0.6 * len({word for german, _ in training[:3_000] for word in german.split()})
    assert small.name == "synth 5/3"
    assert list(CorpusGenerator.named("synth 5/3", 1).in_domain("dev", 20)) == list(small.in_domain("dev", 20))


def test_the_name_of_the_whole_shop_is_the_version():
    assert CorpusGenerator(1).name == "synth 5"
    assert CorpusGenerator.named("synth 5", 1).departments is None


@pytest.mark.parametrize(
    "name", ["synth 4", "synth 4/3", "synth 5/", "synth 5/x", "synth 5/0", "synth 5/3/3", "import"]
)
def test_the_name_of_another_version_is_refused(name):
    with pytest.raises(CorpusError, match=rf"^cannot generate the text of '{name}': this is synth 5$"):
        CorpusGenerator.named(name, 1)


@pytest.mark.parametrize("departments", [0, 36, 99])
def test_a_shop_has_as_many_departments_as_the_lexicon_has_categories(departments):
    assert len(lexicon.load().categories) == DEPARTMENTS
    with pytest.raises(CorpusError, match=f"^the shop cannot have {departments} departments; choose 1 to 35$"):
        CorpusGenerator(1, departments=departments)


def test_an_unknown_phase_is_refused():
    with pytest.raises(ValueError, match="no phase is called 'test'; the phases are mock, dev, training"):
        next(CorpusGenerator(1).in_domain("test", 1))


def test_phases_share_few_pairs(training):
    dev = set(CorpusGenerator(1).in_domain("dev", 3000))
    shared = dev & set(training)
    assert len(shared) / len(dev) < 0.05


def test_lines_are_tokenised_lowercase_and_have_one_numeral(training, news):
    for german, english in training + news:
        for text in (german, english):
            assert text == text.lower()
            assert all(TOKEN.fullmatch(token) for token in text.split()), text
            assert text == " ".join(text.split())
        assert sum(re.fullmatch(r"\d+(?:[.,]\d+)*", token) is not None for token in german.split()) <= 1


@pytest.mark.parametrize(("stream", "limit"), [("training", MAX_IN_DOMAIN_TOKENS), ("news", MAX_OUT_OF_DOMAIN_TOKENS)])
def test_cleaning_does_not_change_the_text(request, stream, limit):
    cleaner = Cleaner(CleaningSettings("de", "en", limit))
    for german, english in request.getfixturevalue(stream)[:3000]:
        assert cleaner.clean(Pair(german, english)) == Pair(german, english)


def test_in_domain_lengths_are_those_of_the_task(training):
    lengths = [len(german.split()) for german, _ in training]
    assert mean(lengths) == pytest.approx(6.6, abs=0.3)
    assert pstdev(lengths) == pytest.approx(4.8, abs=0.4)
    assert median(lengths) in (7, 8)
    assert max(lengths) <= 25


def test_a_task_of_the_whole_shop_is_sound(tmp_path):
    layouts = {"mock": Layout.plain(10), "dev": Layout.plain(100), "training": Layout(3, 100, 600)}
    write_generated_task(tmp_path / "task", description(), layouts, 50, CorpusGenerator, processes=1)
    assert list(find_problems(tmp_path / "task")) == []


def test_out_of_domain_lengths_are_those_of_the_task(news):
    lengths = [len(german.split()) for german, _ in news]
    assert mean(lengths) == pytest.approx(23.0, abs=1.5)
    assert pstdev(lengths) == pytest.approx(14.1, abs=1.5)
    assert max(lengths) <= 150


def test_copying_the_source_scores_as_in_the_task(training):
    assert mean(sentence_bleu(german, english) for german, english in training) == pytest.approx(0.05, abs=0.01)


def test_duplicates_and_sources_with_several_targets_have_the_shares_of_the_task(training):
    assert 1 - len(set(training)) / len(training) == pytest.approx(0.11, abs=0.015)
    targets: dict[str, set[str]] = {}
    for german, english in training:
        targets.setdefault(german, set()).add(english)
    assert mean(len(several) > 1 for several in targets.values()) == pytest.approx(0.04, abs=0.01)


def test_every_kind_of_post_edit_occurs(training):
    """The kinds of Sokolov et al. 2017, Table 1."""
    kinds = {
        "abbreviation expanded": lambda german, english: " gr. " in german and "size" in english,
        "abbreviation in short": lambda german, _: "ca. " in german or " std" in german,
        "error in the source": lambda german, english: german.startswith(", ") and not english.startswith(","),
        "rewritten": lambda german, english: " : mindestens " in german and "minimum" in english,
        "degrees": lambda german, english: "° c" in german and "degrees" in english,
        "typography": lambda _, english: re.search(r"\b\d+-(?:gram|liter|centimeter|hour|inch|watt)", english),
        "poor English": lambda _, english: re.search(r"\b(?:it|the \w+) are\b|^great for", english),
        "English abbreviation": lambda _, english: "w / " in english or "approx " in english,
    }
    for kind, occurs in kinds.items():
        assert any(occurs(german, english) for german, english in training), kind


def test_part_numbers_are_copied(training):
    codes = [
        (code[0], english) for german, english in training if (code := re.findall(r"\b[a-z]{2,3}-\d{3,4}\b", german))
    ]
    assert len(codes) > 100
    assert all(code in english.split() for code, english in codes)


def test_streams_are_lazy():
    assert len(list(islice(CorpusGenerator(1).in_domain("training", 10**9), 5))) == 5


NEWS_FINGERPRINT = "343058a640f313f2bc980c6ce064ee4f1dbb1df7ee4ca35a5540d5ff860edb03"
DEV_FINGERPRINT = "6eefef4e6c8328701ca924ff73ba0f2f4868f86d5117b0ce505a12fc626e6a7f"
