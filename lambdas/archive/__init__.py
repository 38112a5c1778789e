"""Archives: all that is known of a task in one file, to keep it, or to rebuild its board elsewhere.

``lines`` is the file: compressed JSON lines that vouch for themselves. ``contents`` is what they say, and refuses what
cannot be. ``exporting`` writes an archive of a store, ``importing`` restores one. docs/organising.md describes the
format for those who read it with other programs.
"""

from lambdas.archive.exporting import export
from lambdas.archive.importing import Archive
from lambdas.archive.lines import ArchiveError

__all__ = ["Archive", "ArchiveError", "export"]
