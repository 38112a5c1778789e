"""The judge: metrics, summaries, significance, the table and the page that shows them.

Everything here is computed from rounds that were already played; nothing here knows how they are stored, served or
learned from. It depends on no other room, so that the service, the learners and a researcher's notebook can all use
the same arithmetic.
"""
