"""What the CDK CLI does before a deployment, without the CLI: for tests of many deployments."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cdk_command import ROOT, STACK
from deployed_stack import DeployedStack

from aws_double import ACCOUNT
from aws_double.session import Session

_BOOTSTRAP: Final = ROOT / "node_modules/aws-cdk/lib/api/bootstrap/bootstrap-template.yaml"
_ADMINISTRATOR: Final = "arn:aws:iam::aws:policy/AdministratorAccess"
_CAPABILITIES: Final = ["CAPABILITY_NAMED_IAM"]


def bootstrap(session: Session) -> None:
    """Deploy the CLI's own bootstrap template.

    Args:
        session: The account's root.
    """
    session.client("cloudformation").create_stack(
        StackName="CDKToolkit",
        TemplateBody=_BOOTSTRAP.read_text(),
        Parameters=[{"ParameterKey": "CloudFormationExecutionPolicies", "ParameterValue": _ADMINISTRATOR}],
        Capabilities=_CAPABILITIES,
    )
    stack = settled(session, "CDKToolkit")
    assert stack.status == "CREATE_COMPLETE", stack.events


def publish(session: Session, assembly: Path) -> None:
    """Upload the assets of an assembly's stack, but for its template.

    Args:
        session: The account's root.
        assembly: The assembly.
    """
    s3 = session.client("s3")
    files = json.loads((assembly / f"{STACK}.assets.json").read_text())["files"]
    for asset in files.values():
        source = assembly / asset["source"]["path"]
        if source.name == f"{STACK}.template.json":
            continue
        body = _zipped(source) if asset["source"]["packaging"] == "zip" else source.read_bytes()
        for destination in asset["destinations"].values():
            bucket = destination["bucketName"].replace("${AWS::AccountId}", ACCOUNT)
            s3.put_object(Bucket=bucket, Key=destination["objectKey"], Body=body)


def create(session: Session, name: str, template: Mapping[str, Any]) -> DeployedStack:
    """Create a stack as CloudFormation's role of the bootstrap does it for the CLI, and wait for it.

    Args:
        session: The account's root.
        name: Name of the stack.
        template: Its template.
    """
    bucket = f"cdk-hnb659fds-assets-{ACCOUNT}-{session.region}"
    session.client("s3").put_object(Bucket=bucket, Key=f"{name}.json", Body=json.dumps(template))
    session.client("cloudformation").create_stack(
        StackName=name,
        TemplateURL=f"https://{bucket}.s3.{session.region}.amazonaws.com/{name}.json",
        Capabilities=_CAPABILITIES,
        RoleARN=f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds-cfn-exec-role-{ACCOUNT}-{session.region}",
    )
    return settled(session, name)


def settled(session: Session, name: str) -> DeployedStack:
    """Wait until nothing goes on with a stack."""
    stack = DeployedStack(session, name)
    stack.name = stack.id
    while stack.status.endswith("_IN_PROGRESS"):
        time.sleep(0.05)
    return stack


def _zipped(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return buffer.getvalue()
