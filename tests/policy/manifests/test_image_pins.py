from __future__ import annotations

import pytest
from job_manifests import put

ID = "ImagePins"
REGISTRY = "444455556666.dkr.ecr.us-east-2.amazonaws.com"
DIGEST = "sha256:" + "0a" * 32


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (f"{REGISTRY}/vision:latest", "whose tag latest moves"),
        (f"{REGISTRY}/vision:main", "whose tag main moves"),
        (f"{REGISTRY}/vision", "without a tag, which means latest"),
        ("vision:2.3", "without a registry, which means Docker Hub"),
        ("pytorch/pytorch:2.7.1", "without a registry"),
        (f"vision@{DIGEST}", "without a registry"),
        ("<ACCOUNT>.dkr.ecr.us-east-2.amazonaws.com/vision:2.3", "which is no image's name"),
        (f"{REGISTRY}/Vision:2.3", "which is no image's name"),
        (f"{REGISTRY}/vision:2.3@sha256:12", "which is no image's name"),
        ("", "which is no image's name"),
        (5, "which is no image's name"),
        (None, "which is no image's name"),
    ],
)
def test_an_image_that_may_change_fails(judge, kubeflow, image, message):
    (finding,) = judge(ID, put(kubeflow, "container:image", image)).failures
    assert message in finding.message


@pytest.mark.parametrize(
    "image",
    [
        f"{REGISTRY}/team/vision:2.3.1",
        f"{REGISTRY}/vision@{DIGEST}",
        f"{REGISTRY}/vision:latest@{DIGEST}",
        "localhost:5000/vision:1",
        "nvcr.io/nvidia/pytorch:25.04-py3",
        "public.ecr.aws/deep-learning-containers/pytorch-training:2.7",
    ],
)
def test_an_image_that_stays_complies(judge, kubeflow, image):
    assert judge(ID, put(kubeflow, "container:image", image)).outcome(ID) == "pass"


@pytest.mark.parametrize("image", ["${REGISTRY}vision:${TAG}", {"Fn::Sub": "a"}, "{{ .Values.image }}"])
def test_an_image_that_is_filled_in_later_is_undetermined(judge, kubeflow, image):
    assert judge(ID, put(kubeflow, "container:image", image)).outcome(ID) == "undetermined"


def test_init_containers_count(judge, hyperpod):
    put(hyperpod, "pod:initContainers", [{"name": "a", "image": "busybox"}])
    assert judge(ID, hyperpod).outcome(ID) == "fail"
