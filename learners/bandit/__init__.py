"""Learning from one number per sentence, in parts that compose.

Control variates, schedules and optimisers know nothing of translation models, so they serve any learner: a neural
network with millions of weights or a log-linear model with fourteen. Objectives and safeguards say which gradient a
reward is worth; the learners put the parts together.
"""
