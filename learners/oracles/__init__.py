"""Oracles that look up the reference of each round: learners are compared with them, but they are not participants.

``k_best`` tells how good the candidates of a model are: it proposes the best of them. ``statistical`` and ``neural``
tell how much can be learned from them online: they propose before they see the reference, and then learn from the
rewards of all candidates, where a bandit learner receives the reward of one.
"""
