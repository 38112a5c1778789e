"""Bounds that a benchmark has to meet."""


class Bounds:
    """Checks bounds, and remembers whether all of them were met."""

    def __init__(self) -> None:
        self.all_met = True

    def check(self, is_met: bool) -> str:
        """Return ``met`` or ``MISSED``, to be printed next to the bound."""
        self.all_met = self.all_met and is_met
        return "met" if is_met else "MISSED"
