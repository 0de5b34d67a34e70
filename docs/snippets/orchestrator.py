"""Slurm with an accounting database of one's own, and an existing EKS cluster."""

from aws_cdk import App, Stack
from aws_cdk import aws_secretsmanager as secretsmanager

from hyperpod_constructs.accounting_database import AccountingDatabase
from hyperpod_constructs.orchestrator import Orchestrator

stack = Stack(App(), "Training")
slurm = Orchestrator.slurm(
    accounting_database=AccountingDatabase(
        endpoint="accounting.cluster-abcdefghijkl.us-west-2.rds.amazonaws.com",
        database_name="slurm_acct_db",
        secret=secretsmanager.Secret.from_secret_complete_arn(
            stack, "Secret", "arn:aws:secretsmanager:us-west-2:111122223333:secret:accounting-AbCdEf"
        ),
    )
)
eks = Orchestrator.eks(
    "arn:aws:eks:us-west-2:111122223333:cluster/training",
    has_training_operator=True,  # tags the HyperPod cluster SageMaker=true
)
