"""Segmentation of source words before a model reads them, learned from the model's own training text.

Here live ways to turn words that a model cannot know into words that it knows, and to undo them in translations.
Subword vocabularies are part of their networks (``learners.nmt.vocabulary``).
"""
