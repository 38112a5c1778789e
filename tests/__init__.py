"""Tests mirror the rooms: the tests of ``room/noun.py`` are in ``tests/room/test_noun.py``."""
