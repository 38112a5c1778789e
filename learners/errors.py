"""The errors of learners, as one small tree, and the words for a bug in a learner from outside."""

import traceback


class LearnerError(Exception):
    """A run or a training cannot continue; the message says what to do. The root of the tree."""


class SnapshotError(LearnerError):
    """A snapshot cannot be written or read: a value of another type, a damaged file, another system or version."""


class ResumeError(LearnerError):
    """The learner cannot be brought to the round that its run has reached."""


class RewardError(LearnerError):
    """A reward is not a number between 0 and 1."""


class DivergedError(LearnerError):
    """The numbers of a model are no longer finite, or far too large; its last snapshot is kept."""


class ReferencesError(LearnerError):
    """An oracle has no references of the phase that it plays, or those of another task."""


class UnknownSystemError(LearnerError):
    """The registry has no system of that name."""


class TrainingError(LearnerError):
    """A model or a vocabulary cannot be trained from the given text."""


class SettingError(LearnerError):
    """A setting is unknown, or its value is not one that it can have."""


def describe_bug(bug: Exception) -> str:
    """Return an error with the line that raised it, for a message of one line without a traceback."""
    last = traceback.extract_tb(bug.__traceback__)[-1]
    return f"{type(bug).__name__}: {bug} ({last.filename}, line {last.lineno})"
