"""The metrics: pure functions and values without input or output.

``bleu`` scores a sentence and a corpus, ``sentence_bleu`` has other smoothings, ``ter`` counts edits, ``loops``
recognises translations that repeat themselves over and over. ``online`` follows a run round by round. How a system
adapts is measured by ``recall`` (of new and repeated words), ``learning_curve`` (the percentage slope) and
``reliability``; how much there is to adapt to, by ``repetition``. ``contrastive`` tells whether a model prefers what
agrees with the context.
``adaptation`` sums what the rounds of a post-edit phase keep. ``bootstrap`` and ``significance`` tell whether runs
differ, from blocks of rounds and from single ones. All but ``significance`` do without numpy, because the cloud
functions carry them.
"""
