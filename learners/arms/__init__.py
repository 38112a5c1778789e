"""Choosing among whole systems: a bandit whose arms are translation systems, for those who have several engines.

``learner`` plays the members, and ``source_features`` describe a sentence to a bandit that chooses by sentence. The
bandits themselves know nothing of translation and are in ``learners/bandit``.
"""
