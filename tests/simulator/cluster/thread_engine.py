"""A cluster in this process: its nodes are threads, which can die in the middle of a round."""

from threading import Thread, local

from learners.journal import Journal
from simulator.cluster.engine import TaskFailedError, TaskLostError

_this_node = local()  # has the task of the thread


class NodeDeath(BaseException):
    """Ends the thread of a node without a word, as a power cut would: the node's own code catches no such thing."""


class ThreadTask:
    """A task that is a thread."""

    def __init__(self, function, arguments, fuse):
        self._function, self._arguments, self.fuse = function, arguments, fuse
        self._end = None
        self.thread = Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        _this_node.task = self
        try:
            self._function(*self._arguments)
        except BaseException as end:
            self._end = end

    def wait(self, seconds):
        self.thread.join(seconds)
        return not self.thread.is_alive()

    def check(self):
        if isinstance(self._end, NodeDeath):
            raise TaskLostError("its node died")
        if self._end:
            raise TaskFailedError(f"a node cannot play it: {self._end}")

    def kill(self):
        """Do nothing: a thread ends when its connection is closed."""


class ThreadEngine:
    """An engine whose nodes are threads; the first ones die after they have written so many lines of the journal."""

    host = "127.0.0.1"

    def __init__(self, *fuses, function=None):
        self.tasks, self._fuses, self._function = [], list(fuses), function

    def share(self, path):
        return path.read_bytes()

    def submit(self, function, *arguments):
        fuse = self._fuses.pop(0) if self._fuses else None
        self.tasks.append(ThreadTask(self._function or function, arguments, fuse))
        return self.tasks[-1]


def burn_fuses(monkeypatch):
    """Let nodes die when their fuse is burnt: right after a round was written to the journal."""
    write = Journal.write

    def write_and_burn(journal, entry):
        write(journal, entry)
        task = getattr(_this_node, "task", None)
        if task and task.fuse is not None:
            task.fuse -= 1
            if not task.fuse:
                raise NodeDeath

    monkeypatch.setattr(Journal, "write", write_and_burn)
