"""Wraps methods of moto."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any, Mapping[str, Any]], None]

_MARK = "aws_double_wraps"


def before(owner: type[Any], name: str, check: Check) -> None:
    """Run a check before a method; it gets the object and the arguments by name, and may raise.

    Putting the same check there twice changes nothing.

    Args:
        owner: Class of the method.
        name: Name of the method.
        check: What to run.
    """

    def wrap(method: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(method)

        def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(self, *args, **kwargs)
            bound.apply_defaults()
            check(self, bound.arguments)
            return method(self, *args, **kwargs)

        return checked

    _wrap_once(owner, name, wrap, mark=check)


def around(owner: type[Any], name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Wrap a method. Wrapping it twice with the same function changes nothing.

    Args:
        owner: Class of the method.
        name: Name of the method.
        wrap: Gets the method and returns what stands in for it.
    """
    _wrap_once(owner, name, wrap, mark=wrap)


def _wrap_once(
    owner: type[Any], name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]], *, mark: Any
) -> None:
    method = getattr(owner, name)
    marks: tuple[Any, ...] = getattr(method, _MARK, ())
    if mark in marks:
        return
    wrapped = functools.wraps(method)(wrap(method))
    setattr(wrapped, _MARK, (*marks, mark))
    setattr(owner, name, staticmethod(wrapped) if _is_static(owner, name) else wrapped)


def _is_static(owner: type[Any], name: str) -> bool:
    return isinstance(inspect.getattr_static(owner, name), staticmethod)
