"""Context-aware systems from a task to a played run: documents are trained on, played in order, and resumed."""

import pytest

from corpora.scales import DIALOGUES
from corpora.synthesis import synthesise_dialogues
from learners.errors import TrainingError
from learners.nmt.pretraining import PretrainingConfig
from learners.seed_models.catalogue import CADEC, CONTEXT_BASE
from learners.seed_models.settings import BuildSettings, Size
from simulator.cli import run
from simulator.pretraining import _development_sets, _documents, train_seed_models

TINY = BuildSettings(Size.TINY)


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    scale = DIALOGUES.resized(mock=3, dev=292, training=1_211, out_of_domain=150)
    task = synthesise_dialogues(tmp_path_factory.mktemp("context") / "task", scale)
    for path in (task.path / "contrastive").glob("*_dev.jsonl"):  # a few groups are enough, and quicker
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:20]))
    return task


def test_the_text_is_read_by_document_and_the_sets_for_development_with_it(task):
    documents = _documents(task)
    assert sum(map(len, documents)) == 150
    assert {len(document) for document in documents} >= {1, 8}
    assert {name: len(groups) for name, groups in _development_sets(task).items()} == {
        "deixis_dev": 20,
        "lex_cohesion_dev": 20,
    }


def test_cadec_is_trained_scored_and_played_on_a_task_of_dialogues(task, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models = tmp_path / "models"
    (tmp_path / "set.jsonl").write_text(
        (task.path / "contrastive" / "deixis_dev.jsonl").read_text().partition("\n")[0] + "\n"
    )
    pretraining = PretrainingConfig(max_steps=2)
    trained = train_seed_models(task.path, models, [CADEC], settings=TINY, pretraining=pretraining)
    assert trained == [CONTEXT_BASE, CADEC]
    assert "lex_cohesion_dev" in (models / "cadec.curve.svg").read_text()
    scored = ["evaluate", "contrastive", "--set", "set.jsonl", "--model", f"{models}/cadec.model"]
    assert run([*scored, "--model", f"base={models}/context-base.model"]) == 0
    assert "deixis" not in capsys.readouterr().err
    played = ["play", "CONTEXT-cadec", "--phase", "mock", "--task", str(task.path), "--models", str(models)]
    assert run(played) == 0


def test_a_task_without_documents_is_refused(tmp_path):
    from corpora.scales import SCALES, ScaleName
    from corpora.synthesis import synthesise_task

    scale = SCALES[ScaleName.DEMO].resized(mock=2, dev=292, training=1_211, out_of_domain=30)
    task = synthesise_task(tmp_path / "task", scale)
    with pytest.raises(TrainingError, match="has no documents"):
        train_seed_models(task.path, tmp_path / "models", [CADEC], settings=TINY)
