"""Statistical translation: log-linear models over hierarchical or plain phrases, and what learns their few weights.

Here live word alignment, extraction, the language model, the decoders, the forests they leave behind and the learners
on top. Optimisers, control variates and schedules are those of ``learners.bandit``; nothing here knows of networks.
"""
