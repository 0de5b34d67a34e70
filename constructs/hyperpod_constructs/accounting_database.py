"""An external database for Slurm's accounting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_secretsmanager as secretsmanager

from hyperpod_constructs.argument_kinds import SECRET, check_kind
from hyperpod_constructs.cluster_properties import without_absent
from hyperpod_constructs.value_faults import number_faults, refuse_value, shape_faults
from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.faults import Fault

_PROPS = {"Endpoint": "endpoint", "SecretArn": "secret", "Name": "database_name", "Port": "port"}


@dataclass(frozen=True, kw_only=True)
class AccountingDatabase:
    """A MySQL-compatible database of yours that Slurm's ``slurmdbd`` writes to.

    Needs continuous provisioning and images released after August 30, 2026. **There is no way back** to the
    database on the controller, and the controller alone needs it: it must be reachable from the cluster's
    subnets and security groups. Source: SageMaker AI developer guide,
    sagemaker-hyperpod-external-accounting-db-slurm.

    Args:
        endpoint: Host name, such as that of an Amazon RDS instance.
        secret: Secret with user name and password; the user must be able to create the schema. The cluster
            lets the role of the controller group read it.
        database_name: Name of the schema, letters, digits, ``_`` and ``$``. Required, since CloudFormation
            and the API document different defaults: ``slurm_acct_db``, and that with the cluster's id.
        port: TCP port. Default: 3306.

    Raises:
        InvalidInputError: With everything that is wrong.
    """

    endpoint: str
    secret: secretsmanager.ISecret
    database_name: str
    port: int | None = None

    def __post_init__(self) -> None:
        faults = check_kind(self.secret, SECRET, ("secret",), required=True)
        faults += number_faults(self.port, "port")
        if not faults:
            request = self.to_request()
            model = cluster_request().at("Orchestrator", "Slurm", "AccountingDatabase")
            faults = shape_faults(request, model, _PROPS)
            if self.database_name is None:
                faults.append(Fault(("database_name",), "is required, such as 'slurm_acct_db', got None"))
        refuse_value("accounting database", faults)

    def to_request(self) -> dict[str, Any]:
        """Return ``AccountingDatabase`` of a ``CreateCluster`` request."""
        return without_absent(
            {
                "Endpoint": self.endpoint,
                "SecretArn": self.secret.secret_arn,
                "Name": self.database_name,
                "Port": self.port,
            }
        )
