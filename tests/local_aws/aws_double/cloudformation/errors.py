"""What the CloudFormation API answers when it refuses a request."""

from __future__ import annotations

from moto.core.exceptions import ServiceException


class Refused(ServiceException):
    """A request that CloudFormation refuses; ``code`` is the API's error code."""

    code = "ValidationError"

    def __init__(self, message: str) -> None:
        super().__init__(message)


class AlreadyExists(Refused):
    """A stack or change set of that name exists."""

    code = "AlreadyExistsException"


class InsufficientCapabilities(Refused):
    """The template does more than the request allows for."""

    code = "InsufficientCapabilitiesException"


class ChangeSetNotFound(Refused):
    """No such change set."""

    code = "ChangeSetNotFoundException"


class InvalidChangeSetStatus(Refused):
    """The change set cannot be executed."""

    code = "InvalidChangeSetStatus"


def stack_missing(name: str) -> Refused:
    """Return the answer for a stack that does not exist, which the CDK CLI compares word by word."""
    return Refused(f"Stack with id {name} does not exist")


def not_covered(what: str) -> Refused:
    """Return the refusal of what AWS has and this double has not."""
    return Refused(f"{what} is not covered by this double of CloudFormation")
