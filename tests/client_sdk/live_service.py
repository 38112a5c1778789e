"""``banditmt serve`` as a process that can be killed and restarted, with its store on disk."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lambdas.registry import Registry
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from task.feedback import FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase
from task.rounds import Round

BANDITMT = [sys.executable, "-c", "from simulator.cli import main; main()"]


class LiveService:
    """The service in its own process, with one participant.

    Its two phases have the same sentences. ``dev`` gives bandit feedback; ``post-edits`` shows post-edits, and has
    documents of ten sentences.
    """

    def __init__(self, folder: Path, pairs: Sequence[tuple[str, str]]) -> None:
        self.store = f"sqlite:{folder / 'store.sqlite'}"
        store = open_store(self.store)
        store.prepare()
        layout = Layout.plain(len(pairs))
        load_phase(store, Phase("dev", layout, repeatable=True), pairs)
        feedback = FeedbackSpec(kind=FeedbackKind.POST_EDIT)
        post_edits = Phase("post-edits", layout, repeatable=True, feedback=feedback, documents=True)
        texts = [(source, target, f"document {number // 10}") for number, (source, target) in enumerate(pairs)]
        load_phase(store, post_edits, texts, language="en")
        self.api_key = Registry(store).add_participant("acme")
        store.close()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self._start()

    def _start(self) -> None:
        command = [*BANDITMT, "serve", "--store", self.store, "--port", str(self._port), "--json"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert json.loads(self._process.stdout.readline())["url"] == self.url

    def kill(self) -> None:
        """Kill the process without warning, as a power cut would."""
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()

    def restart(self) -> None:
        self.kill()
        self._start()

    def rounds(self, run: str) -> list[Round]:
        """Return the ledger of a run, read from disk."""
        store = open_store(self.store)
        try:
            return list(store.rounds(run))
        finally:
            store.close()
