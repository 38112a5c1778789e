"""What can go wrong for a learner, as one small tree."""


class LearnerError(Exception):
    """The root: a run that cannot go on, with what to do about it in the message."""


class SnapshotError(LearnerError):
    """A snapshot that cannot be read: damaged, truncated, of another system or another version."""


class ResumeError(LearnerError):
    """The learner cannot be brought to where its run stands."""


class RewardError(LearnerError):
    """A reward that is not a number between 0 and 1."""


class DivergedError(LearnerError):
    """The model has left the realm of finite numbers; its last snapshot is kept."""


class UnknownSystemError(LearnerError):
    """A system that the registry does not list."""


class TrainingError(LearnerError):
    """A model or vocabulary that cannot be trained from what was given."""
