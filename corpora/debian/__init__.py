"""The text of a task of real sentences, from Debian packages that are downloaded but not installed.

The in-domain side has the strings of user interfaces (gettext) and package descriptions: short, noisy, full of names.
The out-of-domain side has help pages, man pages and manuals, aligned by their structure.
"""

from corpora.debian.debian_corpus import DebianCorpus, describe_debian_task

__all__ = ["DebianCorpus", "describe_debian_task"]
