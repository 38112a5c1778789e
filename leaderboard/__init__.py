"""The evaluation of runs: metrics, summaries, significance, the table, and the page that shows it.

Everything here is computed from rounds that were already played; nothing here knows how they are stored, served or
learned from. The package depends only on ``task``, so that the service, the learners and a researcher's notebook can
use the same arithmetic.
"""
