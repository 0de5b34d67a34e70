"""A taint of nodes that pods put up with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyperpod_charts.checked_arguments import check_choice
from hyperpod_charts.kubernetes_object import given
from hyperpod_model.catalog.manifest_vocabulary import TAINT_EFFECTS, TOLERATION_OPERATORS
from hyperpod_model.faults import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """A taint that pods put up with.

    Attributes:
        key: Key of the taint.
        operator: ``Exists`` for any value, ``Equal`` for ``value``. Default ``Exists``.
        value: Value of the taint, for ``Equal``. Default none.
        effect: Effect of the taint. Default any.
        toleration_seconds: Seconds for which a ``NoExecute`` taint is put up with. Default without end.
    """

    key: str
    operator: str = "Exists"
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None

    def faults(self) -> list[Fault]:
        """What Kubernetes would refuse."""
        faults = [
            *check_choice("operator", self.operator, TOLERATION_OPERATORS),
            *check_choice("effect", self.effect, TAINT_EFFECTS),
        ]
        if self.operator == "Exists" and self.value is not None:
            faults.append(
                Fault(
                    ("value",), f"must not be given with operator 'Exists', got {self.value!r}; use 'Equal'"
                )
            )
        if self.toleration_seconds is not None and self.effect != "NoExecute":
            faults.append(
                Fault(("toleration_seconds",), f"needs effect 'NoExecute', got effect {self.effect!r}")
            )
        return faults

    def to_json(self) -> dict[str, Any]:
        """Write it as Kubernetes has it."""
        return given(
            key=self.key,
            operator=self.operator,
            value=self.value,
            effect=self.effect,
            tolerationSeconds=self.toleration_seconds,
        )
