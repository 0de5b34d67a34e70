"""Updates of software in the terms of a ``CreateCluster`` request, and back from the request's paths."""

from __future__ import annotations

from typing import Any

from hyperpod_model.faults import UNKNOWN, FaultPath
from hyperpod_model.spec_files.known import known

_BATCHES = {
    "MaximumBatchSize": "maximum_batch_size",
    "RollbackMaximumBatchSize": "rollback_maximum_batch_size",
}


def auto_patching_of(said: Any) -> Any:
    """Return ``AutoPatchConfig``, None where there is none.

    Args:
        said: ``AutoPatchingSpec``; it may be or hold ``UNKNOWN``.
    """
    if said is None or not known(said):
        return said
    return _with_deployment({"PatchingStrategy": said.strategy}, said.deployment)


def scheduled_update_of(said: Any) -> Any:
    """Return ``ScheduledUpdateConfig``, None where there is none.

    Args:
        said: ``ScheduledUpdateSpec``; it may be or hold ``UNKNOWN``.
    """
    if said is None or not known(said):
        return said
    return _with_deployment({"ScheduleExpression": said.schedule_expression}, said.deployment)


def software_update_path(path: FaultPath) -> FaultPath:
    """Translate a path below ``AutoPatchConfig`` or ``ScheduledUpdateConfig``.

    Args:
        path: Path in API terms.
    """
    match path:
        case ("PatchingStrategy", *_):
            return ("strategy",)
        case ("ScheduleExpression", *_):
            return ("schedule_expression",)
        case ("DeploymentConfig", "RollingUpdatePolicy", str(batch), str(member), *_) if batch in _BATCHES:
            return ("deployment", _BATCHES[batch], member.lower())
        case ("DeploymentConfig", "RollingUpdatePolicy", str(batch)) if batch in _BATCHES:
            return ("deployment", _BATCHES[batch])
        case ("DeploymentConfig", "WaitIntervalInSeconds", *_):
            return ("deployment", "wait_interval_seconds")
        case ("DeploymentConfig", "AutoRollbackConfiguration", int(index), *_):
            return ("deployment", "rollback_alarm_names", index)
        case ("DeploymentConfig", "AutoRollbackConfiguration"):
            return ("deployment", "rollback_alarm_names")
        case ("DeploymentConfig", *_):
            return ("deployment",)
    return ()


def _with_deployment(config: dict[str, Any], said: Any) -> dict[str, Any]:
    if said is None:
        return config
    deployment = _deployment(said)
    return config | ({} if deployment == {} else {"DeploymentConfig": deployment})


def _deployment(said: Any) -> Any:
    if not known(said):
        return UNKNOWN
    made: dict[str, Any] = {}
    batches = {member: _batch(getattr(said, field)) for member, field in _BATCHES.items()}
    policy = {member: batch for member, batch in batches.items() if batch is not None}
    if policy:
        made["RollingUpdatePolicy"] = policy
    if said.wait_interval_seconds is not None:
        made["WaitIntervalInSeconds"] = said.wait_interval_seconds
    if not known(said.rollback_alarm_names):
        made["AutoRollbackConfiguration"] = UNKNOWN
    elif said.rollback_alarm_names:
        made["AutoRollbackConfiguration"] = [{"AlarmName": name} for name in said.rollback_alarm_names]
    return made


def _batch(said: Any) -> Any:
    if said is None or not known(said):
        return said
    return {"Type": said.type, "Value": said.value}
