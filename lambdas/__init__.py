"""The service: hands out sentences, scores translations, keeps the ledger.

Here live the rules of the shared task (phases, feedback, protocol), the storage behind them and the thin handlers
that AWS Lambda calls. What judges finished rounds (metrics, summaries, the table) lives in ``leaderboard``; what runs
the service on one machine lives in ``simulator``. Nothing here imports torch, numpy or sacrebleu: this room is what is
bundled into the cloud functions.
"""
