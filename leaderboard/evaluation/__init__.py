"""Evaluation of translations with references at hand: on any files, or on what a ledger holds.

``measures`` names what can be measured, ``comparison`` scores several systems with intervals, ``learning`` fits their
learning curves, ``reports`` prints both for programs and papers, and ``figures`` draws them. The leaderboard does not
need any of this, and the cloud functions do not carry it.
"""
