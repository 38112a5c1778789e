"""The smallest participant: submits the source sentence itself. Needs BANDITMT_URL and BANDITMT_API_KEY."""

from banditmt_client import Client

with Client() as client:
    run = client.open_run(phase="mock", system="copy-source")
    for sentence in run:
        score = run.submit(sentence.source)
        print(f"{sentence.index}\t{score:.4f}\t{sentence.source}")
    print(f"mean reward {run.progress.cumulative_reward / run.total:.4f}")
