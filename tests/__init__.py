"""Tests, in the same folders as the code: the tests of ``lambdas/`` are in ``tests/lambdas/``."""
