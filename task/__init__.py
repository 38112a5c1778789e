"""What a task is: its languages, phases and feedback, and the record of a round.

Every package but the SDK builds on these definitions, and they build on none: only the standard library is imported
here, because this package is bundled into the cloud functions. What does not live here: reading and writing corpora
(``corpora``), scoring and storing rounds (``lambdas``), evaluating runs (``leaderboard``).
"""
