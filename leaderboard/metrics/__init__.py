"""The arithmetic of the judge: pure functions and values without input or output.

``bleu`` scores a sentence and a corpus, ``online`` follows a run round by round, ``bootstrap`` and ``significance``
tell whether runs differ, from blocks of rounds and from single ones. All but ``significance`` use the standard library
only, because the cloud functions carry them.
"""
