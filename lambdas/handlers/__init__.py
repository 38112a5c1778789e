"""What AWS Lambda calls, one module per function: thin, because the rules are in ``lambdas.service``.

``read`` opens runs and hands out what may be read; ``score`` commits translations, and is the only function whose role
may read references. ``api`` holds what they share: routing, request bodies, and the one place where errors become
responses. The local cloud calls the same entry points with the same events, from many threads.
"""
