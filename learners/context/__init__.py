"""Context-aware systems: they translate a sentence with the sentences before it and their translations.

``concatenation`` has the Transformer without context and CONCAT, which reads a whole group of sentences;
``hierarchical`` has the recurrent model with a second encoder for the previous sentence; ``two_pass`` has the
context-aware decoder CADec (``cadec``), which corrects the draft of a model without context. All are from Voita et al.
2019. They share ``examples``, ``translator``, ``search`` and ``training``. ``playing`` plays any of them on a task with
documents.
"""
