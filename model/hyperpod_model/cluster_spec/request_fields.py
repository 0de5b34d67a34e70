"""The fields of a ``CreateCluster`` request: known, unknown, and known to the API only."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from hyperpod_model.catalog.cluster_request import REPORTED_ONLY, RequestField, cluster_request
from hyperpod_model.faults import UNKNOWN, Fault, FaultPath

_NULL_ITEM = "is null; give a value, or leave the item out"
_NULL_VALUE = "is null; give a value, or leave the key out"
_REPORTED = "is what DescribeCluster reports, and cannot be asked for; leave it out"
_GROUP = "InstanceGroups"

NOT_EXPRESSIBLE: Mapping[tuple[str, ...], str] = {
    (_GROUP, "AutoPatchConfig", "PatchSchedule"): "it only reports when the next patch is due",
}
"""What the service's model has and CloudFormation's does not let anybody say, by member names.

Members that CloudFormation lacks altogether are marked ``api_only`` in the catalog.
"""


def judge_fields(request: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """Find the fields that cannot be used.

    Args:
        request: The request as it was read.

    Returns:
        The request without unknown fields and with ``UNKNOWN`` for what cannot be expressed, for further
        checks; and a fault for each such field.
    """
    faults: list[Fault] = []
    usable: dict[str, Any] = _usable(request, cluster_request(), (), (), faults)
    return usable, faults


def _usable(
    value: Any, field: RequestField, path: FaultPath, names: tuple[str, ...], faults: list[Fault]
) -> Any:
    if names in NOT_EXPRESSIBLE and value is not None:
        faults.append(
            Fault(
                path,
                f"cannot be said in CloudFormation: {NOT_EXPRESSIBLE[names]}; leave it out",
            )
        )
        return UNKNOWN
    if isinstance(value, Mapping) and field.type == "structure":
        usable = {}
        for name, member in value.items():
            if name in field.members:
                usable[name] = _usable(member, field.members[name], (*path, name), (*names, name), faults)
                continue
            if name in REPORTED_ONLY:
                faults.append(Fault((*path, name), _REPORTED))
                continue
            meant = _meant(name, field)
            faults.append(Fault((*path, name), _unknown(meant, field)))
            if meant is not None and meant not in value:
                usable[meant] = UNKNOWN
        return usable
    if isinstance(value, Mapping) and field.type == "map":
        faults += [Fault((*path, key), _NULL_VALUE) for key, item in value.items() if item is None]
        return {key: UNKNOWN if item is None else item for key, item in value.items()}
    if isinstance(value, list) and field.item is not None:
        faults += [Fault((*path, index), _NULL_ITEM) for index, item in enumerate(value) if item is None]
        return [
            UNKNOWN if item is None else _usable(item, field.item, (*path, index), names, faults)
            for index, item in enumerate(value)
        ]
    return value


def _meant(name: str, field: RequestField) -> str | None:
    by_case = {member.lower(): member for member in field.members}
    close = difflib.get_close_matches(name.replace("_", "").lower(), by_case, n=1, cutoff=0.75)
    return by_case[close[0]] if close else None


def _unknown(meant: str | None, field: RequestField) -> str:
    if meant is not None:
        return f"is no field of a CreateCluster request here; did you mean {meant!r}"
    return f"is no field of a CreateCluster request here; fields are {', '.join(field.members)}"
