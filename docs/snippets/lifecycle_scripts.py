"""The package's own scripts for a role and a cluster that are made elsewhere."""

from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs.lifecycle_scripts import LifecycleScripts

app = App()
stack = Stack(app, "Training")
role = iam.Role(stack, "Nodes", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))

scripts = LifecycleScripts(stack, "Scripts", required_mounts={"workers": ["/fsx"]})
scripts.grant_read(role)
cluster = sagemaker.CfnCluster(
    stack,
    "Cluster",
    instance_groups=[
        sagemaker.CfnCluster.ClusterInstanceGroupProperty(
            instance_group_name="workers",
            instance_type="ml.p5.48xlarge",
            instance_count=16,
            execution_role=role.role_arn,
            life_cycle_config=sagemaker.CfnCluster.ClusterLifeCycleConfigProperty(
                source_s3_uri=scripts.source_s3_uri, on_init_complete=scripts.entry_point
            ),
        )
    ],
)
cluster.node.add_dependency(scripts, role)
app.synth()
