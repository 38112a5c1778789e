"""Learning and evaluating from logged feedback, without playing (Lawrence et al. 2017).

``logged_round`` is a row of a log, ``estimators`` estimate from a log what a policy would earn, ``policies`` are the
models whose parameters an estimator's gradient changes, and ``training`` follows that gradient in minibatches. What
plays a run is elsewhere: a policy that was trained here is a seed model like any other.
"""
