from __future__ import annotations

import pytest
from job_manifests import put, set_variable

ID = "CheckpointVolume"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--checkpoint-dir", "/tmp/checkpoints"], "/tmp/checkpoints, which is in the container"),
        (["--ckpt_path=/dev/shm/a"], "/dev/shm/a, which is on a volume of type emptyDir"),
        (["--save-dir=/scratch/a"], "/scratch/a, which is on a volume of type hostPath"),
        (["--checkpoint-dir=/lustre-old"], "/lustre-old, which is in the container"),
    ],
)
def test_a_directory_that_goes_with_the_node_fails(judge, kubeflow, arguments, message):
    put(kubeflow, "pod:volumes/2", {"name": "scratch", "hostPath": {"path": "/opt/dlami/nvme"}})
    put(kubeflow, "container:volumeMounts/2", {"name": "scratch", "mountPath": "/scratch"})
    (finding,) = judge(ID, put(kubeflow, "container:args", ["/app/train.py", *arguments])).failures
    assert message in finding.message


def test_variables_count(judge, kubeflow):
    put(kubeflow, "container:args", [])
    set_variable(kubeflow, "CHECKPOINT_DIR", "/tmp/a")
    assert judge(ID, kubeflow).outcome(ID) == "fail"
    set_variable(kubeflow, "CHECKPOINT_DIR", "/lustre/a")
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_a_driver_of_its_own_is_undetermined(judge, kubeflow):
    put(kubeflow, "pod:volumes/1", {"name": "lustre", "csi": {"driver": "example.com"}})
    assert judge(ID, kubeflow).outcome(ID) == "undetermined"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--checkpoint-dir", "s3://bucket/a"],
        ["--checkpoint-dir", "relative"],
        ["--activation-checkpointing", "/tmp/a"],
        ["--checkpoint-interval=100"],
        ["--checkpoint-dir"],
        ["--data-dir=/tmp/data"],
    ],
)
def test_what_names_no_directory_of_checkpoints_is_left_alone(judge, kubeflow, arguments):
    assert judge(ID, put(kubeflow, "container:args", arguments)).verdicts == ()


@pytest.mark.parametrize(
    "script",
    [
        "exec torchrun a.py --checkpoint-dir /tmp/x",
        "cd /app\nexec torchrun \\\n  a.py \\\n  --checkpoint-dir=/tmp/x \\\n  --steps 9",
        "export CHECKPOINT_DIR=/tmp/x; exec torchrun a.py",
        "exec torchrun a.py trainer.checkpoint_dir=/tmp/x",
        "exec torchrun a.py +ckpt_path=/tmp/x",
        "exec torchrun pretrain.py --save /tmp/x",
    ],
)
def test_a_directory_in_a_script_is_found(judge, kubeflow, script):
    put(kubeflow, "container:args", ...)
    (finding,) = judge(ID, put(kubeflow, "container:command", ["bash", "-c", script])).failures
    assert "/tmp/x, which is in the container" in finding.message


@pytest.mark.parametrize(
    "script",
    [
        "exec torchrun a.py --checkpoint-dir /lustre/x",
        "exec torchrun a.py --checkpoint-dir /lustre/x --resume-from-checkpoint /opt/base",
        "exec torchrun a.py --checkpoint-dir /lustre/x --load_checkpoint=/opt/base",
    ],
)
def test_what_is_read_may_be_anywhere(judge, kubeflow, script):
    put(kubeflow, "container:args", ...)
    assert judge(ID, put(kubeflow, "container:command", ["bash", "-c", script])).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("container:volumeMounts/1/readOnly", True),
        ("pod:volumes/1/persistentVolumeClaim", {"claimName": "lustre", "readOnly": True}),
    ],
)
def test_a_volume_that_cannot_be_written_fails(judge, kubeflow, path, value):
    (finding,) = judge(ID, put(kubeflow, path, value)).failures
    assert "which is mounted read-only; expected: a directory that the pod may write to" in finding.message
