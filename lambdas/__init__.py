"""The service: serves sentences, scores translations, keeps the ledger.

The protocol lives here, with its storage and the thin handlers that AWS Lambda calls. What a task is (phases, feedback,
rounds) lives in ``task``, the evaluation of runs in ``leaderboard``, and what runs the service on one machine in
``simulator``. Nothing here imports torch, numpy or sacrebleu: the package is bundled into the cloud functions.
"""
