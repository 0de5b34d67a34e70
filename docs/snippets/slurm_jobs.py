"""A job as a batch file for Slurm."""

from hyperpod_charts import SlurmBatch, render_slurm_batch
from hyperpod_charts.slurm_batch_faults import faults_on_slurm
from hyperpod_model.job_spec import load_job

job = load_job("examples/jobs/ddp-pretrain.yaml")
batch = SlurmBatch(
    partition="train",
    image_file="/fsx/images/ddp-pretrain-1.0.0.sqsh",
    log_folder="/fsx/logs",
)
for fault in faults_on_slurm(job, batch):
    print(fault.severity, fault)
text = render_slurm_batch(job, batch=batch)
