"""The text of a task of real sentences, from Debian packages that are downloaded but not installed.

The in-domain side has the strings of user interfaces (gettext) and package descriptions: short, noisy, full of names.
The out-of-domain side has help pages, man pages and manuals, aligned by their structure. A task of manuals has
some of them in-domain, as documents in natural order, and everything else out-of-domain.
"""

from corpora.debian.debian_corpus import DebianCorpus, InDomainText, describe_debian_task

__all__ = ["DebianCorpus", "InDomainText", "describe_debian_task"]
