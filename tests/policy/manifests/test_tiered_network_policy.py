from __future__ import annotations

from job_manifests import network_policy, pod_spec, put, tiered_job

ID = "TieredNetworkPolicy"


def test_an_open_job_is_worth_a_thought(judge):
    (finding,) = judge(ID, tiered_job()).failures
    assert finding.severity == "advice"
    assert "no NetworkPolicy for its pods among these manifests" in finding.message


def test_a_policy_for_its_pods_complies(judge):
    assert judge(ID, tiered_job(), network_policy()).outcome(ID) == "pass"
    everyone = put(network_policy(), "spec/podSelector", {})
    assert judge(ID, tiered_job(), everyone).outcome(ID) == "pass"


def test_a_policy_for_other_pods_does_not_count(judge):
    others = put(network_policy(), "spec/podSelector/matchLabels/app", "web")
    elsewhere = put(network_policy(), "metadata/namespace", "web")
    assert judge(ID, tiered_job(), others, elsewhere).outcome(ID) == "fail"


def test_in_the_hosts_network_it_is_undetermined(judge):
    body = tiered_job()
    pod_spec(body)["hostNetwork"] = True
    assert judge(ID, body, network_policy()).outcome(ID) == "undetermined"


def test_other_jobs_are_left_alone(judge, kubeflow, hyperpod):
    assert judge(ID, kubeflow, hyperpod).verdicts == ()
