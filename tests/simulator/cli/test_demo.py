"""``banditmt demo``, whole, with a task and models so small that nothing can be learned."""

import signal
import subprocess
import sys
import time

from lambdas.store import open_store
from simulator.cli import demo
from simulator.demonstration import finished_rows

SIZES = demo.Sizes(
    synth=("--mock", "3", "--dev", "283", "--training", "1211", "--out-of-domain", "300", "--processes", "1"),
    pretrain=("--size", "tiny", "--steps", "2"),
    train_on=("--size", "tiny", "--steps", "2"),
)
SMALL_DEMO = f"""
import sys
from pathlib import Path
from simulator import cli
from simulator.cli.demo import Sizes, demonstrate

cli.app.command("small-demo")(lambda: demonstrate(Path(sys.argv[1]), {SIZES!r}))
sys.exit(cli.run(["small-demo"]))
"""
PATIENCE = 300  # seconds for a first run to begin: torch is slow to load on a busy machine


def finished(folder):
    store = open_store(f"sqlite:{folder / 'store.sqlite'}")
    try:
        return set(finished_rows(store, "dev", "banditmt"))
    finally:
        store.close()


def interrupt_while_playing(folder):
    """Begin the demo in another process, press Ctrl-C when the first runs are on their way, return what it said."""
    command = [sys.executable, "-c", SMALL_DEMO, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as playing:
        deadline = time.monotonic() + PATIENCE
        while not list(folder.glob("runs/dev/*/snapshot")) and playing.poll() is None:
            assert time.monotonic() < deadline, "no run has begun"
            time.sleep(0.02)
        playing.send_signal(signal.SIGINT)
        _, complaints = playing.communicate(timeout=PATIENCE)
    return playing.returncode, complaints.splitlines()[-1]


def test_interrupted_it_goes_on_and_ends_with_a_board_figures_and_a_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    folder = tmp_path / "demo"
    assert interrupt_while_playing(folder) == (130, "banditmt: interrupted")
    assert finished(folder) < set(demo.SYSTEMS)

    demo.demonstrate(folder, SIZES)
    resumed = capsys.readouterr().out
    assert "$ banditmt corpus synth" not in resumed
    assert finished(folder) == set(demo.SYSTEMS)
    for name in (*demo.LEARNERS, "BNMT-static (baseline)", "copy-source (baseline)", "BNMT-oracle (oracle)"):
        assert name in resumed
    assert resumed.count(" per round, 95 % interval ") == len(demo.LEARNERS)
    assert {path.name for path in folder.glob("figures/*.svg")} == {
        "dev-held-out.svg",
        "dev-regret.svg",
        "dev-reward.svg",
    }
    assert (folder / "page" / "index.html").is_file()

    demo.demonstrate(folder, SIZES)
    again = capsys.readouterr().out
    assert "$ banditmt compete" not in again
    assert again[again.index("The judge:") :] == resumed[resumed.index("The judge:") :]
