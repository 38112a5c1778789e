"""``banditmt demo`` from start to end, with a task and models so small that nothing can be learned."""

import signal
import subprocess
import sys
import time

from lambdas.store import open_store
from simulator.cli import demo
from simulator.demonstration import finished_rows

OPTIONS = demo.DemoOptions(
    synth=("--mock", "3", "--dev", "283", "--training", "1211", "--out-of-domain", "300", "--processes", "1"),
    pretrain=("--size", "tiny", "--steps", "2"),
    pretrain_oracle=("--size", "tiny", "--steps", "2"),
)
SMALL_DEMO = f"""
import sys
from pathlib import Path
from simulator import cli
from simulator.cli.demo import DemoOptions, run_demo

cli.app.command("small-demo")(lambda: run_demo(Path(sys.argv[1]), {OPTIONS!r}))
sys.exit(cli.run(["small-demo"]))
"""
TIMEOUT_SECONDS = 300  # for a first run to begin: torch is slow to load on a busy machine


def finished(folder):
    store = open_store(f"sqlite:{folder / 'store.sqlite'}")
    try:
        return set(finished_rows(store, "dev", "banditmt"))
    finally:
        store.close()


def interrupt_while_playing(folder):
    """Run the demo in another process and press Ctrl-C during its first runs; return exit code and last error line."""
    command = [sys.executable, "-c", SMALL_DEMO, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as playing:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not list(folder.glob("runs/dev/*/snapshot")) and playing.poll() is None:
            assert time.monotonic() < deadline, "no run has begun"
            time.sleep(0.02)
        playing.send_signal(signal.SIGINT)
        _, complaints = playing.communicate(timeout=TIMEOUT_SECONDS)
    return playing.returncode, complaints.splitlines()[-1]


def test_an_interrupted_demo_resumes_and_ends_with_leaderboard_figures_and_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    folder = tmp_path / "demo"
    assert interrupt_while_playing(folder) == (130, "banditmt: interrupted")
    assert finished(folder) < set(demo.SYSTEMS)

    demo.run_demo(folder, OPTIONS)
    resumed = capsys.readouterr().out
    assert "$ banditmt corpus synth" not in resumed
    assert finished(folder) == set(demo.SYSTEMS)
    for name in (*demo.LEARNERS, "BNMT-static (baseline)", "copy-source (baseline)", "BNMT-oracle (oracle)"):
        assert name in resumed
    assert resumed.count(" per round, 95 % interval ") == len(demo.LEARNERS)
    assert {path.name for path in folder.glob("figures/*.svg")} == {
        "dev-gain.svg",
        "dev-held-out.svg",
        "dev-regret.svg",
        "dev-reward.svg",
    }
    assert (folder / "page" / "index.html").is_file()

    demo.run_demo(folder, OPTIONS)
    again = capsys.readouterr().out
    assert "$ banditmt compete" not in again
    results = "The leaderboard; oracle and baselines are known by their names:"
    assert again[again.index(results) :] == resumed[resumed.index(results) :]
