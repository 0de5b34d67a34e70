"""Reads parameters of Systems Manager back."""

from __future__ import annotations

from typing import Any

from read_back import Clients, reads
from read_back.parts import copied


@reads("AWS::SSM::Parameter")
def parameter(clients: Clients, physical_id: str, _wanted: dict[str, Any]) -> dict[str, Any]:
    """Read a parameter."""
    ssm = clients.client("ssm")
    found = ssm.get_parameter(Name=physical_id)["Parameter"]
    filters = [{"Key": "Name", "Values": [physical_id]}]
    (described,) = ssm.describe_parameters(ParameterFilters=filters)["Parameters"]
    told = {**copied(found, "Name", "Type", "Value"), **copied(described, "Description", "Tier")}
    return {name: value for name, value in told.items() if value != ""}
