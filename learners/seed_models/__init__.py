"""Seed models: the models and the dictionary that systems start from, trained before the first round.

``catalogue`` states each of them once. ``store`` is the folder that holds them, one file each, and ``trainer`` trains
those that a store lacks. How a kind of model is trained, saved and loaded is in ``dictionary``, ``neural`` and
``statistical``.
"""
