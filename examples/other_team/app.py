"""A team with its own network and its own way to run training, taking single constructs from the wheel."""

from __future__ import annotations

from aws_cdk import App, CfnOutput, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_constructs import CheckpointBucket, EfaSecurityGroup, LifecycleScripts, LustreFileSystem


class TrainingPlatform(Stack):
    """Storage and EFA networking for training hosts in a VPC that this team made itself."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        vpc = ec2.Vpc(self, "Vpc", max_azs=1)
        hosts = EfaSecurityGroup(self, "Hosts", vpc=vpc)
        role = iam.Role(self, "TrainingRole", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))

        checkpoints = CheckpointBucket(self, "Checkpoints")
        checkpoints.grant_checkpointing(role)

        scripts = LifecycleScripts(self, "Scripts")
        scripts.grant_read(role)

        lustre = LustreFileSystem(
            self,
            "Lustre",
            vpc=vpc,
            subnet=vpc.private_subnets[0],
            client_security_groups=[hosts],
            storage_capacity_gib=2400,
            throughput_mbps_per_tib=125,
        )

        CfnOutput(self, "CheckpointBucketName", value=checkpoints.bucket.bucket_name)
        CfnOutput(self, "ScriptsUri", value=scripts.source_s3_uri)
        CfnOutput(self, "LustreMount", value=f"{lustre.dns_name}@tcp:/{lustre.mount_name}")


app = App()
TrainingPlatform(app, "TrainingPlatform")
app.synth()
