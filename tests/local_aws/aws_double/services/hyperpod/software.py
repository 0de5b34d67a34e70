"""Updates of the nodes' software: the nodes stay, are imaged anew and run their lifecycle scripts again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from aws_double.progress import Progress
from aws_double.service_api import ApiError, Request
from aws_double.services.hyperpod.api import API, ready
from aws_double.services.hyperpod.prerequisites import check_prerequisites


@API.operation("UpdateClusterSoftware")
def update_cluster_software(request: Request) -> dict[str, Any]:
    found = ready(request.region, request.asked["ClusterName"])
    wanted = {one["InstanceGroupName"]: one for one in request.asked.get("InstanceGroups", [])}
    unknown = sorted(set(wanted) - set(found.groups))
    if unknown:
        raise ApiError("ValidationException", f"{found.name} has no instance groups {', '.join(unknown)}.")
    check_prerequisites(found)
    for name in wanted if wanted else found.groups:
        group = found.groups[name]
        if "ImageId" in request.asked:
            group.asked["ImageId"] = request.asked["ImageId"]
        if "ImageReleaseVersion" in wanted.get(name, {}):
            group.asked["ImageReleaseVersion"] = wanted[name]["ImageReleaseVersion"]
        for node in group.nodes:
            node.updated = datetime.now(UTC)
            node.progress = Progress("SystemUpdating", "Running")
        found.note("InstanceGroup", "Software updated", group=name)
    found.progress = Progress("SystemUpdating", "InService")
    return {"ClusterArn": found.arn}
