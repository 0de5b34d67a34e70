"""A taint of Kubernetes nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.cluster_properties import known_values, without_absent
from hyperpod_constructs.value_faults import refuse_value, shape_faults
from hyperpod_model.catalog.cluster_request import instance_group
from hyperpod_model.checks.kubernetes_config import check_taint

_PROPS = {"Key": "key", "Value": "value", "Effect": "effect"}


@dataclass(frozen=True, kw_only=True)
class KubernetesTaint:
    """Keeps pods that do not tolerate it away from the nodes of a group.

    Args:
        key: Such as ``example.com/team``: an optional DNS name and a slash, then at most 63 letters, digits,
            ``-``, ``_`` and ``.``.
        effect: ``NoSchedule``, ``PreferNoSchedule`` or ``NoExecute``.
        value: At most 63 letters, digits, ``-``, ``_`` and ``.``. Default: none.

    Raises:
        InvalidInputError: If Kubernetes would refuse it.
    """

    key: str
    effect: str
    value: str | None = None

    def __post_init__(self) -> None:
        request = self.to_request()
        faults = shape_faults(request, _model(), _PROPS)
        faults += [
            fault._replace(path=(_PROPS[str(fault.path[0])],))
            for fault in check_taint(known_values(request))
            if fault.severity == "error"
        ]
        refuse_value("taint", faults)

    def to_request(self) -> dict[str, Any]:
        """Return one item of ``KubernetesConfig.Taints`` of a ``CreateCluster`` request."""
        return without_absent({"Key": self.key, "Value": self.value, "Effect": self.effect})


def _model() -> Any:
    return instance_group().at("KubernetesConfig", "Taints").item
