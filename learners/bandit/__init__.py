"""Learning from bandit feedback, one number per sentence, in parts that compose.

Control variates, schedules and optimisers know nothing of translation models, so that they serve any learner: a neural
network with millions of parameters or a log-linear model with fourteen weights. Objectives and safeguards turn a reward
into a gradient; the learners put the parts together.
"""
