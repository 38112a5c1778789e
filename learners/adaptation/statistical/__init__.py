"""The adapting phrase-based system of Bertoldi et al. 2012: background models, and foreground models of the post-edits.

Background models are trained once, on out-of-domain text. Foreground models are estimated again after each block of
post-edits, at a cost in proportion to the block. Both have phrases with their own features, lexicalised reordering and
a language model. It stands on ``learners.smt``, whose own decoders have one phrase table and one language model.
"""
