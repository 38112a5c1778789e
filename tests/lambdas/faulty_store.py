"""A store that fails at a chosen call, before or after the call has taken effect."""

from lambdas.store import Store

METHODS = [name for name in vars(Store) if not name.startswith("_")]


class CrashError(BaseException):
    """A crash of the process. Not an Exception, so that no handler catches it by accident."""


class FaultyStore:
    """Forwards calls to a store, and raises an error at a chosen one.

    With ``after``, the call takes effect and only its result is lost, which is the hard case.
    """

    def __init__(self, store, error=CrashError):
        self._store, self._error = store, error
        self.calls, self._turn, self._after = [], None, False

    def fail(self, turn, *, after):
        """Fail after ``turn`` more calls."""
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
