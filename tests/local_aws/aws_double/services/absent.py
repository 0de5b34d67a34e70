"""Refuses what neither moto nor the double has, with an error after which clients do not try again."""

from __future__ import annotations

from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse


class NotInThisDouble(ServiceException):
    """An operation that AWS has."""

    code = "NotInThisDouble"


_call_action = BaseResponse.call_action


def _refusing(response: BaseResponse) -> Any:
    try:
        return _call_action(response)
    except NotImplementedError as error:
        return response.serialized(ActionResult(NotInThisDouble(f"not in this double of AWS: {error}")))


def install() -> None:
    """Answer so from now on, instead of with a fault of the server."""
    BaseResponse.call_action = _refusing  # type: ignore[method-assign, assignment]
