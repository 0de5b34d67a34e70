"""A job from its specification, and one in Kubernetes' own terms, in one cdk8s app."""

from cdk8s import App, Chart

from hyperpod_charts import (
    ClaimVolume,
    JobChart,
    PyTorchJob,
    Toleration,
    TrainingPod,
    queue_labels,
    team_namespace,
)
from hyperpod_model.job_spec import JobSpec

app = App()

JobChart(
    app,
    "Pretraining",
    job=JobSpec(
        name="llama-ddp",
        image="111122223333.dkr.ecr.us-west-2.amazonaws.com/ddp-pretrain:1.4.0",
        instance_type="ml.p5.48xlarge",
        nodes=2,
        team="research",
        service_account="trainer",
        script="/workspace/train_ddp.py",
    ),
)

evaluation = Chart(app, "Evaluation", namespace=team_namespace("research"))
PyTorchJob(
    evaluation,
    "Job",
    name="llama-eval",
    labels=queue_labels(team="research", priority_class="evaluation"),
    replicas=1,
    nproc_per_node="1",
    auto_resume_retries=3,
    backoff_limit=3,
    pod=TrainingPod(
        image="111122223333.dkr.ecr.us-west-2.amazonaws.com/evaluation:2.0.1",
        command=["torchrun"],
        args=["/workspace/evaluate.py"],
        resources={"nvidia.com/gpu": "1", "cpu": "8", "memory": "64Gi"},
        shared_memory="16Gi",
        volumes=[ClaimVolume(claim_name="fsx", mount_path="/fsx", read_only=True)],
        tolerations=[Toleration(key="nvidia.com/gpu", effect="NoSchedule")],
        node_selector={"node.kubernetes.io/instance-type": "ml.g6.12xlarge"},
        termination_grace_period_seconds=120,
    ),
)
