"""What CloudFormation does after it has asked a service for something: it looks again until it is there."""

from __future__ import annotations

from collections.abc import Callable, Collection
from time import monotonic, sleep

from botocore.exceptions import ClientError

from aws_double.resource import ResourceFailure

_PAUSE_SECONDS = 0.05
_LIMIT_SECONDS = 60.0


def wait_for(look: Callable[[], str], *, done: Collection[str], doing: Collection[str], what: str) -> None:
    """Wait until something has a state.

    Args:
        look: Returns its state.
        done: States to wait for.
        doing: States on the way there.
        what: How to call it.

    Raises:
        ResourceFailure: If it gets into another state, or never there.
    """
    end = monotonic() + _LIMIT_SECONDS
    while (state := look()) not in done:
        if state not in doing:
            raise ResourceFailure(f"{what} is {state}")
        if monotonic() > end:
            raise ResourceFailure(f"{what} is still {state} after {_LIMIT_SECONDS:.0f} seconds")
        sleep(_PAUSE_SECONDS)


def wait_until_gone(look: Callable[[], str], *, errors: Collection[str], what: str) -> None:
    """Wait until the service does not know something any more.

    Args:
        look: Returns its state.
        errors: Codes of the errors by which the service says so.
        what: How to call it.

    Raises:
        ResourceFailure: If it stays.
    """
    gone = "gone"

    def state() -> str:
        try:
            return look().upper()
        except ClientError as error:
            if error.response["Error"]["Code"] in errors:
                return gone
            raise

    wait_for(state, done=(gone,), doing=("DELETING",), what=what)


def unless_gone(act: Callable[[], object], *, errors: Collection[str]) -> bool:
    """Do something to what may be gone already, and tell whether it was there.

    Args:
        act: What to do.
        errors: Codes of the errors by which the service says that it is gone.
    """
    try:
        act()
    except ClientError as error:
        if error.response["Error"]["Code"] in errors:
            return False
        raise
    return True
