"""Logged bandit feedback of a phase, released for offline learning: rows, the files they are written to, a data card.

docs/logged-feedback.md describes the columns for readers.
"""

from simulator.feedback_log.release import Release, release_log

__all__ = ["Release", "release_log"]
