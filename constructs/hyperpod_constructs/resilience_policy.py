"""How a cluster deals with broken nodes."""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_constructs.tokens import known
from hyperpod_model import cluster_tags
from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.catalog.cluster_rules import deep_health_check_hours
from hyperpod_model.checks.reading import is_unknown, quoted
from hyperpod_model.checks.resilience import check_resilience, deep_health_checks, runs_deep_health_checks
from hyperpod_model.faults import Fault, InvalidInputError

_SUBJECT = "resilience policy"


@dataclass(frozen=True, kw_only=True)
class ResiliencePolicy:
    """Spare nodes, deep health checks and recovery, chosen from the situation.

    Deep health checks stress every node that joins, at creation and as a replacement, for about two hours
    before it takes work. Whether that pays depends on the spares. The developer guide has three cases:

    1. **Spare nodes, or two hours are tolerable**: the checks run for as long as the cluster lives. A
       broken node costs nothing but its spare; without spares, the job waits about two hours more at every
       replacement.
    2. **No spares and the wait is to be avoided**: the checks run once, when the cluster is created, and
       are then turned off (``commissioned=True``, then deploy again). Replacements come unchecked, and bad
       hardware among them shows only in training. Until the second step is taken, replacements still wait,
       and synthesis says so.
    3. **No spares and the wait is intolerable**, such as in a small cluster: no deep health checks. Bad
       hardware shows only in training.

    A deployment fails while checks run. Source: SageMaker AI developer guide,
    sagemaker-hyperpod-eks-resiliency-deep-health-checks.

    Args:
        spare_nodes: Accelerated nodes beyond what jobs need, which jobs leave idle. They are part of the
            groups' ``instance_count``, cost what every node costs, and must be fewer than the accelerated
            nodes. Recorded as a tag and an output of the cluster, for reviewers. Default: 0.
        replacement_wait: What two more hours for a replacement mean: ``tolerable``, ``avoid`` or
            ``intolerable``. Only matters without spares. Default: ``tolerable``.
        commissioned: Whether the first checks have passed, the second step of case two. Without effect in
            the other cases. Default: ``False``.
        node_recovery: ``Automatic`` lets HyperPod reboot or replace faulty accelerated nodes by itself; CPU
            nodes are never replaced. ``None`` (the text) only labels faulty nodes, which AWS does not
            recommend. Default: ``Automatic``.

    Raises:
        InvalidInputError: If a value is illegal.
    """

    spare_nodes: int = 0
    replacement_wait: str = "tolerable"
    commissioned: bool = False
    node_recovery: str = "Automatic"

    def __post_init__(self) -> None:
        faults = check_resilience(
            spare_nodes=known(self.spare_nodes), replacement_wait=known(self.replacement_wait)
        )
        modes = cluster_request().at("NodeRecovery").enum
        if not is_unknown(known(self.node_recovery)) and self.node_recovery not in modes:
            faults.append(
                Fault(("node_recovery",), f"must be one of {quoted(modes)}, got {self.node_recovery!r}")
            )
        if not is_unknown(known(self.commissioned)) and not isinstance(self.commissioned, bool):
            faults.append(Fault(("commissioned",), f"must be True or False, got {self.commissioned!r}"))
        for name in ("spare_nodes", "replacement_wait", "commissioned"):
            if is_unknown(known(getattr(self, name))):
                faults.append(
                    Fault((name,), "decides what is deployed, so it must be known at synthesis, got a token")
                )
        if faults:
            raise InvalidInputError(
                Fault((_SUBJECT,), f"{fault.path[0]} {fault.message}") for fault in faults
            )

    @property
    def deep_health_checks(self) -> tuple[str, ...]:
        """Deep health checks for accelerated groups that choose none themselves; empty where they are off."""
        runs = runs_deep_health_checks(
            spare_nodes=self.spare_nodes,
            replacement_wait=self.replacement_wait,
            commissioned=self.commissioned,
        )
        return deep_health_checks() if runs else ()

    @property
    def commissioning_is_due(self) -> bool:
        """Whether deep health checks are on now and ought to be turned off once the first have passed."""
        return self.spare_nodes == 0 and self.replacement_wait == "avoid" and not self.commissioned

    @property
    def consequence(self) -> str:
        """What a broken node costs under this policy, in a sentence."""
        hours = deep_health_check_hours()
        if self.spare_nodes > 0:
            spare = "the spare node" if self.spare_nodes == 1 else f"one of {self.spare_nodes} spare nodes"
            return f"a job goes on with {spare} while a replacement is checked"
        if self.deep_health_checks and not self.commissioning_is_due:
            return f"a job waits about {hours} hours at every replacement, until the new node is checked"
        if self.commissioning_is_due:
            return (
                f"a job waits about {hours} hours at every replacement until commissioned=True is deployed, "
                "and replacements are not checked after that"
            )
        return "a job waits for the replacement only, which is not checked: bad hardware shows in training"

    def to_tags(self) -> dict[str, str]:
        """Return the tags that record the policy on the cluster."""
        return {
            cluster_tags.SPARE_NODES: str(self.spare_nodes),
            cluster_tags.REPLACEMENT_WAIT: self.replacement_wait,
        }
