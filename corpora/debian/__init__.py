"""A real task out of what Debian ships: packages are downloaded, not installed, and their texts stay on the machine.

User interfaces (gettext) and package descriptions are the in-domain side: short, noisy, full of names. Help pages, man
pages and manuals, aligned by their structure, are the out-of-domain side.
"""

from corpora.debian.apt import Apt
from corpora.debian.collection import INTERFACES, MANUALS, interface_pairs, manual_pairs, wishes

__all__ = ["INTERFACES", "MANUALS", "Apt", "interface_pairs", "manual_pairs", "wishes"]
