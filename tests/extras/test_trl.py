"""The example with TRL plays as it stands: one reward per sentence in each of its runs, in the order of the phase."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.client_sdk.fake_service import KEY, RUN, FakeService, serving
from tests.extras.tiny_huggingface import save_causal

EXAMPLE = Path(__file__).parents[2] / "examples" / "trl_grpo.py"
SOURCES = ["rot seil", "blau decke", "gross seil neu"]


class OneRunPerSystem(FakeService):
    """A service that opens a run for each system; a finished one is followed by another."""

    def __init__(self, sentences):
        super().__init__(sentences)
        self.runs = {}

    def respond(self, method, path, body):
        if path == "/v1/runs":
            number = list(self.runs).index(body["system"]) if body["system"] in self.runs else len(self.runs)
            run = self.runs.setdefault(body["system"], FakeService(self.sentences))
            if len(run.ledger) == len(self.sentences):
                run.ledger.clear()
        else:
            number = ord(path.split("/")[3][0]) - ord("a")
            run = list(self.runs.values())[number]
        own = chr(ord("a") + number) * 26
        status, response = run.respond(method, path.replace(own, RUN), body)
        return status, json.loads(json.dumps(response).replace(RUN, own))


def play(model, service, tmp_path, *arguments):
    with serving(SOURCES) as server:
        server.service = service
        return subprocess.run(
            [sys.executable, str(EXAMPLE), model, *arguments],
            cwd=tmp_path,
            env={**os.environ, "BANDITMT_URL": server.url, "BANDITMT_API_KEY": KEY, "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            timeout=300,
        )


def test_each_translation_of_a_sentence_is_played_in_a_run_of_its_own(tmp_path):
    service, model = OneRunPerSystem(SOURCES), save_causal(tmp_path / "model", positions=128)
    done = play(model, service, tmp_path, "mine")
    assert done.returncode == 0, done.stderr
    assert list(service.runs) == ["mine.sources", "mine.1", "mine.2", "mine.3", "mine.4"]
    assert [[index for index, *_ in run.ledger] for run in service.runs.values()] == [[0, 1, 2]] * 5
    means = [sum(score for *_, score in run.ledger) / 3 for run in list(service.runs.values())[1:]]
    assert done.stdout.splitlines()[-1] == (
        f"3 sentences, 4 runs, mean rewards {', '.join(f'{mean:.4f}' for mean in means)}"
    )
