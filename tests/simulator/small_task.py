"""A small task whose text tiny models can learn, and a competition on it."""

from corpora.task import TaskWriter, in_served_order, write_pairs
from lambdas.store import open_store
from simulator.competition import Competition
from simulator.pretraining import train_seed_models
from simulator.tasks import load_task
from task.description import OUT_OF_DOMAIN
from task.layout import Layout
from tests.corpora.tasks import description
from tests.learners.tiny import PRETRAINING, SETTINGS, sentences

LAYOUTS = {"mock": Layout.plain(5), "dev": Layout(3, 4, 9), "training": Layout(2, 3, 6)}


def write_task(path, seed=0, layouts=LAYOUTS):
    """Write a task of German in seven words; its dev phase has 30 rounds unless the layouts say otherwise."""
    with TaskWriter(path, description(seed=seed)) as writer:
        for number, (part, layout) in enumerate(layouts.items()):
            served = in_served_order(sentences(layout.distinct, seed=10 + number), layout, part)
            writer.add(part, write_pairs(writer.directory, part, ("de", "en"), served), layout)
        pairs = sentences(200, seed=seed)
        writer.add(OUT_OF_DOMAIN, write_pairs(writer.directory, OUT_OF_DOMAIN, ("de", "en"), pairs))
    return path


def make_competition(folder, models=(), phase="dev", seed=0, layouts=LAYOUTS):
    """Return a competition on a store with the task, and with these seed models."""
    task = write_task(folder / "task", seed, layouts)
    address = f"sqlite:{folder / 'store'}?synchronous=normal"
    store = open_store(address)
    load_task(store, task)
    store.close()
    train_seed_models(task, folder / "models", models, settings=SETTINGS, pretraining=PRETRAINING)
    return Competition(address, phase, folder / "models", folder / "runs")
