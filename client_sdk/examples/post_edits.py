"""The smallest participant that learns: remembers how post-edits translate each word. Needs a phase that shows them."""

from banditmt_client import Client

with Client() as client:
    phase = next(phase.name for phase in client.phases() if phase.feedback == "post-edit")
    run, memory = client.open_run(phase=phase, system="word-memory"), {}
    for sentence in run:
        words = sentence.source.split()
        score = run.submit(" ".join(memory.get(word, word) for word in words))
        correct = run.last.post_edit.split()
        memory.update(zip(words, correct, strict=True) if len(words) == len(correct) else ())
        print(f"{sentence.index}\t{score:.4f}\t{run.last.translation}")
