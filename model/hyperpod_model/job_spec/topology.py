"""How near each other a job's nodes are."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.spec_files.spec_model import SpecModel


class TopologySpec(SpecModel):
    """Nodes of the job behind the same network node of EC2's topology."""

    layer: Literal[1, 2, 3] = Field(
        description="Layer of the network node that they share: 3 is nearest to the nodes, 1 farthest."
    )
    required: bool = Field(
        default=False,
        description=(
            "Whether the job rather waits than run on nodes that are farther apart. By default false."
        ),
    )
