"""A store that fails on command, before or after it has done what was asked."""

from lambdas.store import Store

METHODS = [name for name in vars(Store) if not name.startswith("_")]


class CrashError(BaseException):
    """The process dies here. Not an Exception, so that nothing can catch it by accident."""


class FaultyStore:
    """Passes calls on; the one whose turn it is raises instead of returning.

    ``after`` means that the call did its work and only its answer was lost: the hard case.
    """

    def __init__(self, store, error=CrashError):
        self._store, self._error = store, error
        self.calls, self._turn, self._after = [], None, False

    def fail(self, turn, *, after):
        """Fail at the call after ``turn`` more calls."""
        self._turn, self._after = len(self.calls) + turn, after

    def heal(self):
        self._turn = None

    def __getattr__(self, name):
        method = getattr(self._store, name)
        if name not in METHODS:
            return method

        def called(*arguments):
            turn = len(self.calls)
            self.calls.append(name)
            if turn == self._turn and not self._after:
                raise self._error
            result = method(*arguments)
            if turn == self._turn:
                raise self._error
            return result

        return called
