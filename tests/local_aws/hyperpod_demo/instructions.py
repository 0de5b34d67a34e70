"""How to use the double that goes on."""

from __future__ import annotations

import shlex
from pathlib import Path

from cdk_command import STACK

from hyperpod_demo.clusters import ADAPTED, DemoCluster
from hyperpod_demo.command_line import shown
from hyperpod_demo.keeping import SETTINGS
from hyperpod_model.cluster_spec import stack_name_of


def instructions(folder: Path, endpoint: str, cluster: DemoCluster) -> str:
    """Return lines to copy.

    Args:
        folder: Where the settings are.
        endpoint: Address of the double.
        cluster: A cluster that is deployed.
    """
    name = cluster.spec.name
    adapted = folder / cluster.folder / ADAPTED
    said = {"cluster": shown(adapted)} if adapted.exists() else cluster.said()
    context = " ".join(f"-c {shlex.quote(f'{key}={value}')}" for key, value in said.items())
    arn = f"boto3.client('sagemaker').describe_cluster(ClusterName='{name}')['ClusterArn']"
    return f"""\
The double goes on at {endpoint} until `make demo-stop`. To use it, in a shell of its own in this folder:

    . {shown(folder / SETTINGS)}

Until its `exit` that shell sees the double and no account of yours. boto3, the AWS CLI and the CDK CLI there:

    python -c "import boto3; print({arn})"
    aws sagemaker list-cluster-nodes --cluster-name {name} --output table
    aws cloudformation list-stack-resources --stack-name {stack_name_of(name)} --output table
    cdk diff {STACK} --app {shown(folder / cluster.folder)}
    cdk deploy {STACK} {context}"""
