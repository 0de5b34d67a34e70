"""Slurm that the package's own scripts configure, in a stack of one's own."""

from aws_cdk import App, Stack

from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
from hyperpod_lifecycle.node_parameters import NodeParameters, lustre_mount
from hyperpod_lifecycle.slurm_configuration.classic_slurm import ClassicSlurm
from hyperpod_lifecycle.slurm_configuration.provisioning_parameters import WorkerGroup

app = App()
stack = Stack(app, "Training")
scratch = lustre_mount(
    dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", mount_name="abcdefgh", mount_path="/fsx"
)
scripts = LifecycleScripts(
    stack,
    "Scripts",
    slurm_mode="lifecycle",
    node_parameters=NodeParameters(
        orchestrator="slurm",
        mounts={"controller": [scratch], "workers": [scratch]},
        second_volume_groups=["workers"],
        slurm=ClassicSlurm(
            controller_group="controller",
            worker_groups=[WorkerGroup("workers", partition_name="gpu")],
            accounting=True,
            settings={"AccountingStorageTRES": "gres/gpu"},
        ),
    ),
)
app.synth()
