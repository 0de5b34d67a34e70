"""The role with which CloudFormation deploys a stack."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from aws_cdk import App, Aws, DefaultStackSynthesizer, Environment, IStackSynthesizer, Stack, Token
from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_codepipeline_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import IConstruct

from hyperpod_constructs.role_identity import deployed_stack

_QUALIFIER = "@aws-cdk/core:bootstrapQualifier"
_ACCOUNT = "000000000000"
_REGION = "a-region-0"
_OTHER_REGION = "a-region-1"

_ROLES: WeakKeyDictionary[IStackSynthesizer, dict[str | None, str | None]] = WeakKeyDictionary()


def deploying_role_arn(scope: IConstruct) -> str | None:
    """ARN of the role with which CloudFormation deploys a construct, or None where CDK does not name it.

    Of the CDK's synthesizers, ``DefaultStackSynthesizer`` and its subclasses name one.
    ``CliCredentialsStackSynthesizer`` and ``LegacyStackSynthesizer`` deploy with whatever credentials the
    caller has.

    Args:
        scope: Any construct within a stack, nested stacks included.
    """
    stack = deployed_stack(scope)
    synthesizer = stack.synthesizer
    if not isinstance(synthesizer, DefaultStackSynthesizer):
        return None
    try:
        arn: str | None = synthesizer.cloud_formation_execution_role_arn
    except RuntimeError as error:
        if "bound to a Stack" not in str(error):
            raise
        arn = _role_of_unbound(synthesizer, stack.node.try_get_context(_QUALIFIER))
    if arn is None:
        return None
    # The placeholders are for the CDK CLI. CloudFormation would take them literally.
    return (
        arn.replace("${AWS::Partition}", Aws.PARTITION)
        .replace("${AWS::AccountId}", stack.account)
        .replace("${AWS::Region}", stack.region)
    )


def _role_of_unbound(synthesizer: IStackSynthesizer, qualifier: str | None) -> str | None:
    roles = _ROLES.setdefault(synthesizer, {})
    if qualifier not in roles:
        roles[qualifier] = _ask_a_copy(synthesizer, qualifier)
    return roles[qualifier]


def _ask_a_copy(synthesizer: IStackSynthesizer, qualifier: str | None) -> str | None:
    """Role of a synthesizer that was created in Python, with the CLI's placeholders.

    A stack binds a copy of its synthesizer. Python gets the original in its place, which is not bound and
    knows no role; binding it would spoil it for other stacks, and synthesizing another stack with it would
    add to the assets of all. A pipeline for two Regions hands the role of its stack's copy on to a second
    stack, whose synthesizer Python does get. So one is made in an app of its own, which is never synthesized.
    """
    app = App(context={} if qualifier is None else {_QUALIFIER: qualifier})
    env = Environment(account=_ACCOUNT, region=_REGION)
    stack = Stack(app, "Asks", env=env, synthesizer=synthesizer)
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "no-bucket")
    role = iam.Role.from_role_arn(stack, "Role", f"arn:aws:iam::{_ACCOUNT}:role/None", mutable=False)
    pipeline = codepipeline.Pipeline(
        stack, "Pipeline", artifact_bucket=bucket, cross_account_keys=False, role=role
    )
    pipeline.add_stage(
        stage_name="Source",
        actions=[
            actions.S3SourceAction(
                action_name="Source",
                bucket=bucket,
                bucket_key="none",
                output=codepipeline.Artifact(),
                role=role,
                trigger=actions.S3Trigger.NONE,
            )
        ],
    )
    pipeline.add_stage(
        stage_name="OtherRegion",
        actions=[
            actions.CloudFormationDeleteStackAction(
                action_name="OtherRegion",
                admin_permissions=False,
                deployment_role=role,
                region=_OTHER_REGION,
                role=role,
                stack_name="None",
            )
        ],
    )
    told = pipeline.cross_region_support[_OTHER_REGION].stack.synthesizer
    if not isinstance(told, DefaultStackSynthesizer) or Token.is_unresolved(
        arn := told.cloud_formation_execution_role_arn
    ):
        return None
    return arn.replace(_ACCOUNT, "${AWS::AccountId}").replace(_REGION, "${AWS::Region}")
