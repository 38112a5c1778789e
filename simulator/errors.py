"""What can go wrong in running everything on one machine: each error is one line that says what to do."""


class SimulatorError(Exception):
    """Anything a user of the simulator can cause and mend."""


class TemplateError(SimulatorError):
    """The template is missing, or says something that the local cloud does not understand."""


class UsagePlanError(SimulatorError):
    """API Gateway did not add or remove a key of the usage plan."""


class ServeError(SimulatorError):
    """The service cannot be started as it was asked for."""
