"""Statistical machine translation: hierarchical and phrase-based log-linear models, and learners of their weights.

The package holds word alignment, rule extraction, the language model, both decoders, the hypergraphs that they return
and the learners on top. Optimisers, control variates and schedules come from ``learners.bandit``; nothing here depends
on neural networks.
"""
