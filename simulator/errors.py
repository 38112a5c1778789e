"""The errors of the simulator: each message is one line that says what to do."""


class SimulatorError(Exception):
    """An error that a user of the simulator can cause and correct. The root of the tree."""


class TemplateError(SimulatorError):
    """The template is missing, or the local cloud does not support what it says."""


class UsagePlanError(SimulatorError):
    """API Gateway did not add or remove a key of the usage plan."""


class TrackingError(SimulatorError):
    """There is no such tracker, or its package is not installed."""


class ServeError(SimulatorError):
    """The service cannot be started with these options."""


class ClusterError(SimulatorError):
    """There is no such cluster, or it cannot be used."""


class PlaceError(ClusterError):
    """The place where runs shall be played is none, or is not for runs with these options."""
