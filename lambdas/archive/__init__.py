"""Archives: one file with everything that is known of a task, to keep it or to move it to another store.

``file_format`` reads and writes the file: compressed JSON lines with a checksum. ``records`` defines the kinds of
lines. ``record_reader`` reads them and refuses impossible ones. ``exporter`` writes an archive of a store, ``importer``
restores one. docs/organising.md describes the format for other programs.
"""

from lambdas.archive.exporter import export
from lambdas.archive.file_format import ArchiveError
from lambdas.archive.importer import Archive

__all__ = ["Archive", "ArchiveError", "export"]
