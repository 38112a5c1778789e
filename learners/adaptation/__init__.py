"""Learning from post-edits: what an online learner gains if it is shown the correct translation after each round.

``neural`` adapts networks as Simianer et al. 2019 do: all parameters, the top layers, a fixed choice or an output bias;
``lasso`` lets each user's data choose the parameters. What a user has taught is a set of offsets to a base model, which
many users share (``offsets``, ``parameters``). ``translation_memory`` is the baseline that translators have today.
Learning from rewards is in ``learners.bandit``.
"""
