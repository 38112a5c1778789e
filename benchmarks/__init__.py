"""Benchmarks of speed (``make bench``), as ratios to a named rival of the same run, and studies of learning."""
