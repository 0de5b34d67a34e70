"""The database of Slurm's accounting."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.catalog.cluster_request import cluster_request
from hyperpod_model.cluster_spec.request_schema import schema_of
from hyperpod_model.spec_files.spec_model import SpecModel

_DATABASE = cluster_request().at("Orchestrator", "Slurm", "AccountingDatabase")


class AccountingDatabaseSpec(SpecModel):
    """An existing MySQL database that keeps Slurm's accounting. A cluster cannot give it up again."""

    endpoint: str = Field(
        description="Host name of the database, reachable from the nodes.",
        json_schema_extra=schema_of(_DATABASE.at("Endpoint")),
    )
    database_name: str = Field(
        description=(
            "Name of the schema in the database. Required here, since the API and CloudFormation document "
            "different defaults."
        ),
        json_schema_extra=schema_of(_DATABASE.at("Name")),
    )
    secret_arn: str = Field(
        description="ARN of the secret in Secrets Manager that holds user name and password.",
        json_schema_extra=schema_of(_DATABASE.at("SecretArn")),
    )
    port: int | None = Field(
        default=None,
        description="TCP port of the database. By default the service's, 3306.",
        json_schema_extra=schema_of(_DATABASE.at("Port")),
    )
