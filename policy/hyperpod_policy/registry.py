"""All rules, in the order in which reports list them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Final

from hyperpod_policy.manifests import registry as manifest_rules
from hyperpod_policy.manifests.rule import ManifestRule
from hyperpod_policy.rule import Rule
from hyperpod_policy.rules.control_plane import (
    add_on_order,
    add_on_versions,
    authentication_mode,
    control_plane_logs,
    dependency_chart,
    endpoint_access,
    node_traffic,
    secrets_encryption,
    supported_kubernetes,
    team_quotas,
    training_operator_tag,
)
from hyperpod_policy.rules.identity import (
    bucket_owner_pins,
    execution_role_privileges,
    execution_role_trust,
    function_access,
    kubernetes_administrators,
    node_checkpoint_access,
    object_permissions,
    orchestrator_privileges,
    pod_identity_trust,
    pod_role_privileges,
    role_privileges,
    role_trust,
    script_writers,
    service_account_trust,
    workspace_access,
    writer_trust,
)
from hyperpod_policy.rules.network import (
    address_budget,
    checkpoint_ports,
    checkpoint_ports_acl,
    cluster_ingress,
    efa_lustre_traffic,
    efa_self_traffic,
    endpoint_ports,
    flow_logs,
    group_zones,
    isolated_endpoints,
    node_dns,
    node_egress,
    node_group_members,
    node_subnets,
    open_ingress,
    s3_endpoint,
    s3_endpoint_policy,
)
from hyperpod_policy.rules.resilience import (
    checkpointless,
    cluster_dependencies,
    cluster_request,
    deep_health_checks,
    instance_type_offer,
    node_recovery,
    provisioning_file,
    tiered_checkpointing,
    training_plan,
)
from hyperpod_policy.rules.storage import (
    bucket_access_logs,
    bucket_accounts,
    bucket_configuration,
    bucket_copies,
    bucket_encryption,
    bucket_names,
    bucket_public_access,
    bucket_retention,
    bucket_transport,
    bucket_versioning,
    bucket_writers,
    checkpoint_expiry,
    checkpoint_readers,
    key_deletion,
    key_policies,
    key_rotation,
    log_buckets,
    lustre_backups,
    lustre_durability,
    lustre_encryption,
    lustre_order,
    lustre_ports,
    lustre_removal,
    lustre_settings,
    lustre_zone,
    script_expiry,
    script_sources,
)
from hyperpod_policy.rules.watch import (
    alarm_actions,
    alarm_window,
    budget,
    event_targets,
    figure_alarms,
    health_events,
    log_retention,
    node_log_alarms,
    prometheus_alerts,
    topic_access,
    topic_encryption,
)
from hyperpod_policy.update import UpdateRule
from hyperpod_policy.updates import (
    autoscaling_role,
    cluster_replacement,
    empty_new_groups,
    file_system_replacement,
    group_settings,
    kubernetes_version,
    provisioning_mode,
    removed_groups,
    slurm_way_back,
    subnet_ranges,
)

GROUPS: Final[Mapping[str, tuple[Rule, ...]]] = {
    "network": (
        efa_self_traffic.RULE,
        checkpoint_ports.RULE,
        efa_lustre_traffic.RULE,
        open_ingress.RULE,
        cluster_ingress.RULE,
        node_group_members.RULE,
        node_subnets.RULE,
        address_budget.RULE,
        checkpoint_ports_acl.RULE,
        node_dns.RULE,
        node_egress.RULE,
        flow_logs.RULE,
        group_zones.RULE,
        isolated_endpoints.RULE,
        endpoint_ports.RULE,
        s3_endpoint_policy.RULE,
        s3_endpoint.RULE,
    ),
    "storage": (
        bucket_writers.RULE,
        checkpoint_readers.RULE,
        bucket_configuration.RULE,
        bucket_accounts.RULE,
        bucket_copies.RULE,
        bucket_names.RULE,
        bucket_transport.RULE,
        bucket_public_access.RULE,
        bucket_encryption.RULE,
        key_policies.RULE,
        key_rotation.RULE,
        key_deletion.RULE,
        bucket_versioning.RULE,
        bucket_access_logs.RULE,
        log_buckets.RULE,
        bucket_retention.RULE,
        script_expiry.RULE,
        script_sources.RULE,
        checkpoint_expiry.RULE,
        lustre_settings.RULE,
        lustre_ports.RULE,
        lustre_order.RULE,
        lustre_zone.RULE,
        lustre_durability.RULE,
        lustre_backups.RULE,
        lustre_encryption.RULE,
        lustre_removal.RULE,
    ),
    "identity": (
        execution_role_trust.RULE,
        execution_role_privileges.RULE,
        orchestrator_privileges.RULE,
        pod_role_privileges.RULE,
        script_writers.RULE,
        object_permissions.RULE,
        bucket_owner_pins.RULE,
        writer_trust.RULE,
        pod_identity_trust.RULE,
        service_account_trust.RULE,
        node_checkpoint_access.RULE,
        kubernetes_administrators.RULE,
        role_privileges.RULE,
        role_trust.RULE,
        function_access.RULE,
        workspace_access.RULE,
    ),
    "resilience": (
        cluster_request.RULE,
        instance_type_offer.RULE,
        node_recovery.RULE,
        deep_health_checks.RULE,
        cluster_dependencies.RULE,
        tiered_checkpointing.RULE,
        provisioning_file.RULE,
        training_plan.RULE,
        checkpointless.RULE,
    ),
    "control_plane": (
        endpoint_access.RULE,
        supported_kubernetes.RULE,
        authentication_mode.RULE,
        secrets_encryption.RULE,
        control_plane_logs.RULE,
        node_traffic.RULE,
        dependency_chart.RULE,
        add_on_order.RULE,
        add_on_versions.RULE,
        training_operator_tag.RULE,
        team_quotas.RULE,
    ),
    "watch": (
        health_events.RULE,
        event_targets.RULE,
        alarm_actions.RULE,
        alarm_window.RULE,
        node_log_alarms.RULE,
        figure_alarms.RULE,
        prometheus_alerts.RULE,
        budget.RULE,
        log_retention.RULE,
        topic_access.RULE,
        topic_encryption.RULE,
    ),
}
"""All rules by the concern they serve, which is the folder they stand in."""

RULES: Final[tuple[Rule, ...]] = tuple(chain.from_iterable(GROUPS.values()))
"""All rules, in the order in which reports list them."""

UPDATE_RULES: Final[tuple[UpdateRule, ...]] = (
    group_settings.RULE,
    cluster_replacement.RULE,
    removed_groups.RULE,
    empty_new_groups.RULE,
    autoscaling_role.RULE,
    slurm_way_back.RULE,
    provisioning_mode.RULE,
    file_system_replacement.RULE,
    subnet_ranges.RULE,
    kubernetes_version.RULE,
)
"""All rules about updates, in the order in which reports list them."""

MANIFEST_RULES: Final[tuple[ManifestRule, ...]] = manifest_rules.MANIFEST_RULES
"""All rules about Kubernetes manifests, in the order in which reports list them."""


def group_of(rule_id: str) -> str:
    """Return the concern that a rule serves, such as ``network``.

    Args:
        rule_id: Such as ``EfaSelfTraffic``.

    Raises:
        LookupError: If there is no such rule.
    """
    found = rule(rule_id)
    return next(name for name, rules in GROUPS.items() if found in rules)


def rule(rule_id: str) -> Rule:
    """Look a rule up.

    Args:
        rule_id: Such as ``EfaSelfTraffic``.

    Raises:
        LookupError: If there is no such rule.
    """
    for found in RULES:
        if found.id == rule_id:
            return found
    raise LookupError(f"no rule {rule_id!r}; rules: {', '.join(found.id for found in RULES)}")


def update_rule(rule_id: str) -> UpdateRule:
    """Look a rule about updates up.

    Args:
        rule_id: Such as ``GroupSettings``.

    Raises:
        LookupError: If there is no such rule.
    """
    for found in UPDATE_RULES:
        if found.id == rule_id:
            return found
    raise LookupError(f"no update rule {rule_id!r}; rules: {', '.join(found.id for found in UPDATE_RULES)}")
