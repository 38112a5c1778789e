"""Verify a store: its texts, its ledger, its leaderboard, and the organiser's decisions.

``runs`` scores every round of a run again, and checks its links and its summary. ``texts`` recomputes the fingerprints
of the loaded text. ``inventory`` finds what is missing, left over or does not belong together. ``published`` compares
the ledger with a leaderboard that was published before. ``lambdas.seal`` guards the organiser's decisions. An audit
reads references, which only the organiser and the scoring function may do.
"""

from lambdas.audit.discrepancies import Discrepancy
from lambdas.audit.runs import Auditor

__all__ = ["Auditor", "Discrepancy"]
