"""Slurm that the API has configured stays so."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_model.catalog.updates import ACCOUNTING_DATABASE, SLURM_CONFIGURATION
from hyperpod_policy.rule import Verdict, failed, passed, undetermined
from hyperpod_policy.update import ClusterPair, Update, UpdateRule

_MEMBER = "SlurmConfig"
_DATABASE = ("Orchestrator", "Slurm", "AccountingDatabase")


def check(update: Update) -> Iterator[Verdict]:
    """Judge each cluster that the API has configured for Slurm."""
    for pair in update.clusters():
        verdicts = [*_groups(update, pair), *_database(update, pair)]
        yield from verdicts


def _groups(update: Update, pair: ClusterPair) -> Iterator[Verdict]:
    for groups in update.group_pairs(pair):
        if _MEMBER not in groups.old.properties:
            continue
        path = (*groups.new.path, _MEMBER)
        if _MEMBER in groups.new.properties:
            yield passed(groups.new.cluster, *path)
        else:
            yield failed(
                groups.new.cluster,
                *path,
                found=f"group '{groups.new.name}' no longer says SlurmConfig",
                allowed=f"SlurmConfig: {SLURM_CONFIGURATION.value}",
            )


def _database(update: Update, pair: ClusterPair) -> Iterator[Verdict]:
    if pair.new is None or pair.old.get(*_DATABASE) is None:
        return
    allowed = f"the same database: {ACCOUNTING_DATABASE.value}"
    if pair.new.get(*_DATABASE) is None:
        yield failed(pair.new, *_DATABASE, found="the accounting database is gone", allowed=allowed)
        return
    for member in ("Endpoint", "Name"):
        changed = update.changed(pair.old, pair.new, (*_DATABASE, member))
        if changed is not False:
            answer = undetermined if changed is None else failed
            before, after = (side.get(*_DATABASE, member) for side in (pair.old, pair.new))
            found = f"changes from {before} to {after}"
            yield answer(pair.new, *_DATABASE, member, found=found, allowed=allowed)
            return
    yield passed(pair.new, *_DATABASE)


RULE = UpdateRule(
    id="SlurmWayBack",
    title="Slurm that the API has configured stays configured by the API",
    severity="error",
    why=(
        "There is no way back from API-driven Slurm or from an accounting database. A template that leaves "
        "them out describes a cluster that does not exist, and scripts that configure Slurm themselves fight "
        "with the service."
    ),
    fix="keep SlurmConfig and the database; to configure it otherwise make a cluster of another name",
    source="SageMaker developer guide, sagemaker-hyperpod-slurm-api-config-migration",
    check=check,
)
