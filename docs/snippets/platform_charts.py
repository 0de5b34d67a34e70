"""A namespace for jobs with the file system of a HyperPodStack."""

from cdk8s import App

from hyperpod_charts import LustreFileSystemReference, PlatformChart

app = App()
PlatformChart(
    app,
    "Platform",
    namespace="hyperpod-training",
    service_account_name="trainer",
    file_system=LustreFileSystemReference(
        file_system_id="fs-0123456789abcdef0",
        dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        mount_name="abcdefgh",
        storage_capacity_gib=4800,
    ),
)
