"""The text of a task of real sentences, from Debian packages that are downloaded but not installed.

The in-domain side has the strings of user interfaces (gettext) and package descriptions: short, noisy, full of names.
The out-of-domain side has help pages, man pages and manuals, aligned by their structure.
"""

from corpora.debian.apt import Apt
from corpora.debian.collection import INTERFACE_PACKAGES, MANUAL_PACKAGES, interface_pairs, manual_pairs, packages_for

__all__ = ["INTERFACE_PACKAGES", "MANUAL_PACKAGES", "Apt", "interface_pairs", "manual_pairs", "packages_for"]
