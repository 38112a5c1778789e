"""The handlers that AWS Lambda calls, one module per function. They are thin: the rules are in ``lambdas.service``.

``read`` opens runs, serves sentences and shows the leaderboard. ``score`` commits translations, and is the only
function whose role may read references. ``board`` follows the ledger's stream and keeps the leaderboard up to date.
``api`` holds what ``read`` and ``score`` share: routing, request bodies, and the one place where errors become
responses. The local cloud calls the same handlers with the same events, from many threads.
"""
