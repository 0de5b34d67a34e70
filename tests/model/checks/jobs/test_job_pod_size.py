from __future__ import annotations

from plain_jobs import DURABLE, TIERED, Case, faults_of, table_tests

ONE_PARTITION = {"gpu_partition": "mig-1g.10gb", "accelerators": 1, "nodes": 1}
TIERED_JOB = {"tiered_checkpointing": TIERED, "checkpoint": DURABLE}

CASES = [
    Case(
        {"instance_type": "p5.48xlarge"}, ("instance_type",), "got 'p5.48xlarge'; did you mean ml.p5.48xlarge"
    ),
    Case({"instance_type": "ml.p5.48xlrage"}, ("instance_type",), "did you mean ml.p5.48xlarge"),
    Case(
        {"instance_type": "nonsense"},
        ("instance_type",),
        "must be an instance type of HyperPod, got 'nonsense'",
    ),
    Case({"accelerators": 9}, ("accelerators",), "must be at most 8, those of ml.p5.48xlarge, got 9"),
    Case({"accelerators": 0}, ("accelerators",), "must be 1 or more"),
    Case(
        {"accelerators": 1, "instance_type": "ml.c5.4xlarge"}, ("accelerators",), "are not in ml.c5.4xlarge"
    ),
    Case(
        {"efa_interfaces": 1, "instance_type": "ml.g5.xlarge"},
        ("efa_interfaces",),
        "are not in ml.g5.xlarge: such a pod never starts",
    ),
    Case({"efa_interfaces": 33}, ("efa_interfaces",), "must be at most 32, those of ml.p5.48xlarge, got 33"),
    Case({"efa_interfaces": -1}, ("efa_interfaces",), "must be 0 or more"),
    Case(
        {"efa_interfaces": 1}, ("efa_interfaces",), "are 32 in ml.p5.48xlarge, got 1: 31 lie idle", "warning"
    ),
    Case({"efa_interfaces": 0}, ("efa_interfaces",), "falls back to TCP", "warning"),
    Case(
        {"instance_type": "ml.p6e-gb200.36xlarge"},
        ("efa_interfaces",),
        "are uncertain for ml.p6e-gb200.36xlarge.*; give the number that its nodes offer, or 0 to say",
        "warning",
    ),
    Case(
        {"instance_type": "ml.g4dn.12xlarge"}, ("efa_interfaces",), "are uncertain.*give 1, or 0", "warning"
    ),
    Case({"huge_pages_mib": 5121}, ("huge_pages_mib",), "must be a multiple of 2"),
    Case({"huge_pages_mib": 20000}, ("huge_pages_mib",), "must be at most 10256"),
    Case(
        {"huge_pages_mib": 512, "instance_type": "ml.g5.xlarge"},
        ("huge_pages_mib",),
        "set apart on nodes with EFA only",
    ),
    Case({"vcpu": 192}, ("vcpu",), "must be at most 179 on ml.p5.48xlarge: of its 192 .*got 192"),
    Case(
        {"memory_gib": 2048},
        ("memory_gib",),
        "must be at most 1880 on ml.p5.48xlarge: of its 2048 GiB.*got 2048",
    ),
    Case(
        TIERED_JOB | {"memory_gib": 1800},
        ("memory_gib",),
        "must be at most 1470 .*tiered checkpointing 20 percent",
    ),
    Case({"shared_memory_gib": 1881}, ("shared_memory_gib",), "must be at most memory_gib, 1880"),
    Case(
        {"memory_gib": 100, "shared_memory_gib": 101},
        ("shared_memory_gib",),
        "must be at most memory_gib, 100",
    ),
    Case(
        {"accelerators": 1, "nodes": 8, "shared_memory_gib": 400}, ("shared_memory_gib",), "memory_gib, 235"
    ),
    Case(
        ONE_PARTITION | {"gpu_partition": "mig-1g.5gb"},
        ("gpu_partition",),
        "must be one of 'mig-1g.10gb', .*got 'mig-1g.5gb'",
    ),
    Case(
        ONE_PARTITION | {"instance_type": "ml.g5.xlarge"},
        ("gpu_partition",),
        "must be left out for ml.g5.xlarge",
    ),
    Case(ONE_PARTITION | {"accelerators": None}, ("accelerators",), "is required with gpu_partition"),
    Case(ONE_PARTITION | {"nodes": 2}, ("gpu_partition",), "is for jobs of one pod.*got 2 nodes"),
    Case(ONE_PARTITION | {"efa_interfaces": 1}, ("efa_interfaces",), "must be 0 with gpu_partition"),
]
LEGAL = [
    {"vcpu": 179, "memory_gib": 1880, "shared_memory_gib": 1880, "huge_pages_mib": 0},
    {"accelerators": 4, "nodes": 4, "efa_interfaces": 16},
    {"nodes": 1, "efa_interfaces": 0},
    {"instance_type": "ml.p6e-gb200.36xlarge", "efa_interfaces": 4},
    {"instance_type": "ml.g4dn.12xlarge", "efa_interfaces": 0},
    {"instance_type": "ml.g5.xlarge", "efa_interfaces": 0},
    {"instance_type": "ml.c5.4xlarge"},
    ONE_PARTITION,
    ONE_PARTITION | {"accelerators": 7, "efa_interfaces": 0},
    TIERED_JOB | {"memory_gib": 1470},
]


def test_a_share_that_leaves_nothing_is_refused() -> None:
    job = TIERED_JOB | {"tiered_checkpointing": TIERED | {"memory_percentage": 100}}
    [fault] = faults_of(**job)
    assert fault.path == ("tiered_checkpointing", "memory_percentage")
    assert fault.message.startswith("leaves pods no memory on ml.p5.48xlarge")


test_is_found, test_passes_where_unknown, test_says_nothing = table_tests(CASES, LEGAL)
