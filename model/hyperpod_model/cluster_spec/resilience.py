"""Spare nodes, the wait for a replacement, and the deep health checks that follow from them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hyperpod_model.spec_files.spec_model import SpecModel

ReplacementWait = Literal["tolerable", "avoid", "intolerable"]


class ResilienceSpec(SpecModel):
    """What happens when a node fails: the situation from which the deep health checks are chosen."""

    spare_nodes: int = Field(
        default=0,
        ge=0,
        description=(
            "Accelerated nodes, out of the instance_count of the groups, that jobs leave free to step in for "
            "faulty ones. Fewer than all accelerated nodes. By default 0."
        ),
    )
    replacement_wait: ReplacementWait = Field(
        default="tolerable",
        description=(
            "What it means to wait about two hours longer for a replacement node, which deep health checks "
            "take, when no spare is there. 'tolerable': check every node, always. 'avoid': check at "
            "creation, then join replacements unchecked (see commissioned). 'intolerable': no deep health "
            "checks. With spare nodes the checks always run. By default 'tolerable'."
        ),
    )
    commissioned: bool = Field(
        default=False,
        description=(
            "With no spares and replacement_wait 'avoid': the cluster has been created and every node has "
            "passed its checks, so they are off from now on. By default false: the checks are on."
        ),
    )
