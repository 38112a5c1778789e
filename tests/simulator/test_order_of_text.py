"""The order of the out-of-domain text decides nothing: seed models of a sorted and a shuffled text earn the same.

The text is sorted: sentences of news first, then the entries of an index, which are short and have long targets.
Weights that are tuned on its end make translations too long.
"""

import random
import sys
from itertools import islice

import pytest

from corpora.synth import CorpusGenerator
from corpora.task import Pair, Task, TaskWriter, write_pairs
from corpora.task_import import RawCorpus, import_task
from leaderboard.metrics.bleu import sentence_bleu
from leaderboard.metrics.significance import paired_block_bootstrap
from learners.seed_models.catalogue import SMT
from learners.seed_models.store import ModelStore
from simulator.pretraining import train_seed_models
from task.description import OUT_OF_DOMAIN
from task.layout import Layout
from tests.corpora.tasks import description
from tests.learners.tiny import SETTINGS

NEWS, ENTRIES, DEV = 400, 200, 200
LAYOUTS = {"mock": Layout.plain(1), "dev": Layout.plain(DEV), "training": Layout.plain(1)}
IN_DOMAIN = sum(layout.distinct for layout in LAYOUTS.values())


def short_news(count):
    """Return sentences of four to nine tokens."""
    generated = CorpusGenerator(1, departments=1).out_of_domain(sys.maxsize)
    return [Pair(*pair) for pair in islice((pair for pair in generated if 4 <= len(pair[0].split()) <= 9), count)]


def index_entries(sentences, count):
    """Return lines of two words whose targets are much longer."""
    rng = random.Random(0)
    words = sorted({word for pair in sentences for word in pair.source.split() if len(word) > 3})
    drawn = [rng.choices(words, k=2) for _ in range(count)]
    return [Pair(f"{first} {second}", f"{first} , {second} , please see also : {first}") for first, second in drawn]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    """A task as earlier versions wrote it, in the order of its file, and the same text as it is imported now."""
    folder = tmp_path_factory.mktemp("tasks")
    sentences = short_news(IN_DOMAIN + NEWS)
    in_domain, news = sentences[:IN_DOMAIN], sentences[IN_DOMAIN:]
    text = [*news, *index_entries(news, ENTRIES)]
    import_task(folder / "shuffled", description(), RawCorpus(in_domain, text, tokenised=True), lambda _: LAYOUTS)
    shuffled = Task.open(folder / "shuffled")
    with TaskWriter(folder / "sorted", description()) as writer:
        writer.add(OUT_OF_DOMAIN, write_pairs(writer.directory, OUT_OF_DOMAIN, ("de", "en"), text))
        for phase, layout in LAYOUTS.items():
            served = shuffled.pairs(phase)
            writer.add(phase, write_pairs(writer.directory, phase, ("de", "en"), served), layout)
    return {"sorted": Task.open(folder / "sorted"), "shuffled": shuffled}


@pytest.fixture(scope="module")
def shuffled_rewards(tasks, tmp_path_factory):
    return seed_model_rewards(tasks["shuffled"], tmp_path_factory.mktemp("models"))


def seed_model_rewards(task, folder):
    """Train SMT and return the reward of its best translation in each round of the dev phase."""
    train_seed_models(task.path, folder, [SMT], settings=SETTINGS)
    translator = ModelStore(folder).load(SMT)
    best = [translator.forest(pair.source, translator.weights).best(translator.weights) for pair in task.pairs("dev")]
    return [
        sentence_bleu(derivation.translation, pair.target)
        for derivation, pair in zip(best, task.pairs("dev"), strict=True)
    ]


def test_both_tasks_have_the_same_text_in_another_order(tasks):
    texts = {name: list(task.pairs(OUT_OF_DOMAIN)) for name, task in tasks.items()}
    assert sorted(texts["sorted"]) == sorted(texts["shuffled"])
    ends = {name: sum("please see also" in pair.target for pair in text[-60:]) for name, text in texts.items()}
    assert ends["sorted"] == 60
    assert 8 < ends["shuffled"] < 32  # a third of 60 is expected


def test_seed_models_of_a_sorted_and_a_shuffled_text_earn_the_same(tasks, shuffled_rewards, tmp_path):
    difference = paired_block_bootstrap(seed_model_rewards(tasks["sorted"], tmp_path), shuffled_rewards)
    assert difference.low <= 0 <= difference.high


def test_they_would_not_if_weights_were_tuned_on_the_end_of_the_text(tasks, shuffled_rewards, tmp_path, monkeypatch):
    def split_at_the_end(pairs, seed):
        cut = len(pairs) - len(pairs) // 10
        return pairs[:cut], pairs[cut:]

    monkeypatch.setattr("learners.seed_models.statistical.split_for_tuning", split_at_the_end)
    difference = paired_block_bootstrap(seed_model_rewards(tasks["sorted"], tmp_path), shuffled_rewards)
    assert difference.high < 0
