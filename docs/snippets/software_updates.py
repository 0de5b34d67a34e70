"""Updates every Sunday, a few nodes at a time, rolled back when training goes wrong; and patches."""

from aws_cdk import App, Stack
from aws_cdk import aws_cloudwatch as cloudwatch

from hyperpod_constructs.instance_group import InstanceGroup
from hyperpod_constructs.software_updates import AutoPatching, BatchSize, Deployment, ScheduledUpdate

stack = Stack(App(), "Training")
loss = cloudwatch.Alarm.from_alarm_arn(
    stack, "Loss", "arn:aws:cloudwatch:us-west-2:111122223333:alarm:training-loss"
)
workers = InstanceGroup(
    name="workers",
    instance_type="ml.p5.48xlarge",
    instance_count=16,
    scheduled_update=ScheduledUpdate(
        schedule_expression="cron(0 3 ? * SUN *)",
        deployment=Deployment(
            maximum_batch_size=BatchSize.percentage(25),
            rollback_maximum_batch_size=BatchSize.percentage(50),
            wait_interval_seconds=900,
            rollback_alarms=[loss],
        ),
    ),
)
inference = InstanceGroup(
    name="inference",
    instance_type="ml.g6.12xlarge",
    instance_count=4,
    auto_patching=AutoPatching(strategy="WhenIdle"),
)
