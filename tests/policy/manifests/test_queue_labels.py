from __future__ import annotations

import pytest
from job_manifests import put

ID = "QueueLabels"
QUEUE = "metadata/labels/kueue.x-k8s.io~queue-name"
PRIORITY = "metadata/labels/kueue.x-k8s.io~priority-class"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            QUEUE,
            "hyperpod-ns-speech-localqueue",
            "in namespace hyperpod-ns-vision; expected: hyperpod-ns-vision-localqueue",
        ),
        (QUEUE, "vision", "queue 'vision' in namespace hyperpod-ns-vision"),
        (QUEUE, ..., "no queue in the namespace hyperpod-ns-vision of task governance"),
        (PRIORITY, "training", "priority 'training'; expected: training-priority"),
        ("metadata/namespace", "research", "queue hyperpod-ns-vision-localqueue in namespace research"),
    ],
)
def test_a_mixture_of_teams_fails(judge, hyperpod, path, value, message):
    (finding,) = judge(ID, put(hyperpod, path, value)).failures
    assert message in finding.message


def test_labels_of_pods_count(judge, hyperpod):
    labels = "replicas:template/metadata/labels/kueue.x-k8s.io~queue-name"
    assert judge(ID, put(hyperpod, labels, "hyperpod-ns-speech-localqueue")).outcome(ID) == "fail"
    assert judge(ID, put(hyperpod, labels, "hyperpod-ns-vision-localqueue")).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("path", "value"), [("metadata/namespace", ...), (QUEUE, "hyperpod-ns-${TEAM}-localqueue")]
)
def test_what_is_filled_in_later_is_undetermined(judge, hyperpod, path, value):
    assert judge(ID, put(hyperpod, path, value)).outcome(ID) == "undetermined"


def test_a_priority_needs_a_queue(judge, kubeflow):
    (finding,) = judge(ID, put(kubeflow, PRIORITY, "high")).failures
    assert finding.severity == "warning"
    assert "priority 'high' without queue" in finding.message


def test_a_kueue_of_ones_own_is_left_alone(judge, kubeflow):
    put(put(kubeflow, QUEUE, "user-queue"), PRIORITY, "high")
    assert judge(ID, kubeflow).verdicts == ()


def test_jobs_without_queue_elsewhere_are_left_alone(judge, kubeflow):
    assert judge(ID, kubeflow).verdicts == ()
