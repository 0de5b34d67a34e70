"""Whether add-ons are new enough."""

from __future__ import annotations

import pytest
from preflight_account import MADE, ON_EKS, WITH_EKS, add_on, clusters, versions
from preflight_asked import all_ok, asked, only
from told_aws import Refusal, denied

from hyperpod_model.catalog.add_ons import ADD_ONS

NAME = "add-on"
LIST = ("eks", "ListAddons")
DESCRIBE = ("eks", "DescribeAddon")
OFFERED = ("eks", "DescribeAddonVersions")
OPERATOR = "amazon-sagemaker-hyperpod-training-operator"


def there(*names, **more):
    """Add-ons that are installed, with what is said of the last."""
    return {
        LIST: {"addons": list(names)},
        DESCRIBE: lambda asked: add_on(
            asked["addonName"], "v1.20.4-eksbuild.1", **(more if asked["addonName"] == names[-1] else {})
        ),
    }


def test_add_ons_that_are_new_enough():
    all_ok(
        asked(NAME, ON_EKS),
        "vpc-cni: v1.20.4-eksbuild.1 is installed, 1.18.3 or later is needed",
        "kube-proxy",
    )


def test_an_add_on_that_is_too_old():
    found = asked(NAME, ON_EKS, {DESCRIBE: lambda asked: add_on(asked["addonName"], "v1.18.2-eksbuild.9")})
    only(
        found, "problem", "vpc-cni: must be 1.18.3 or later for HyperPod, got 'v1.18.2-eksbuild.9'; update it"
    )


def test_an_add_on_that_eks_does_not_keep():
    only(
        asked(NAME, ON_EKS, there("kube-proxy")),
        "cannot tell",
        "vpc-cni: it is no add-on of training; if it runs",
    )


def test_an_add_on_without_what_it_needs():
    only(
        asked(NAME, ON_EKS, there("vpc-cni", OPERATOR)),
        "problem",
        "needs cert-manager and eks-pod-identity-agent",
    )
    all_ok(asked(NAME, ON_EKS, there("vpc-cni", "cert-manager", "eks-pod-identity-agent", OPERATOR)))


def test_an_add_on_in_trouble():
    why = {"issues": [{"code": "ClusterUnreachable", "message": "nobody answers"}]}
    found = asked(NAME, ON_EKS, there("vpc-cni", status="DEGRADED", health=why))
    only(
        found,
        "problem",
        r"it is DEGRADED \(nobody answers\); see 'aws eks describe-addon --cluster-name training",
    )


def test_a_deployment_without_nodes():
    found = asked(NAME, ON_EKS, there("vpc-cni", "coredns", status="DEGRADED"))
    only(found, "cannot tell", "coredns: it is DEGRADED, as where there are no nodes")
    found = asked(NAME, ON_EKS, there("vpc-cni", "coredns", status="CREATE_FAILED"))
    only(found, "problem", "it is CREATE_FAILED")


def test_add_ons_of_a_cluster_that_is_made():
    found = asked(NAME, WITH_EKS)
    all_ok(found, "vpc-cni: v1.20.4-eksbuild.1 is the default for Kubernetes 1.33, 1.18.3 or later is needed")
    assert [each.subject for each in found] == [*ADD_ONS]


def test_a_default_that_is_too_old():
    old = versions("v1.20.4-eksbuild.1", "v1.17.0-eksbuild.1", default="v1.17.0-eksbuild.1")
    only(
        asked(NAME, WITH_EKS, {OFFERED: old}),
        "problem",
        "vpc-cni: must be 1.18.3 or later.*; set a newer one",
    )


def with_version(version):
    return {**WITH_EKS, "eks": {**WITH_EKS["eks"], "add_on_versions": {"vpc-cni": version}}}


def test_a_version_that_is_wanted():
    all_ok(
        asked(NAME, with_version("v1.19.0-eksbuild.1")),
        "vpc-cni: v1.19.0-eksbuild.1 is wanted for Kubernetes",
    )
    found = asked(NAME, with_version("v1.21.0-eksbuild.1"))
    only(
        found,
        "problem",
        "no version v1.21.0-eksbuild.1 for Kubernetes 1.33; set .* one of v1.20.4-eksbuild.1, v1.19",
    )


def test_an_add_on_that_the_region_lacks():
    found = asked(
        NAME,
        WITH_EKS,
        {
            OFFERED: lambda asked: (
                {"addons": []} if asked["addonName"] == OPERATOR else versions("v1.20.0-eksbuild.1")
            )
        },
    )
    only(found, "problem", f"^{OPERATOR}: EKS has none for Kubernetes 1.33 in us-west-2; set another")


def test_no_default():
    found = asked(
        NAME, WITH_EKS, {OFFERED: {"addons": [{"addonVersions": [{"addonVersion": "v1.20.0-eksbuild.1"}]}]}}
    )
    assert {each.verdict for each in found} == {"cannot tell"}
    assert "names no default version" in found[0].text


TEAMS = {"teams": [{"team": "research", "instances": {"ml.p5.48xlarge": 2}}]}
EXTRAS = {
    "task_governance": TEAMS,
    "metrics": {"prometheus": True, "container_insights": True},
}
GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"
OBSERVABILITY = "amazon-sagemaker-hyperpod-observability"
INSIGHTS = "amazon-cloudwatch-observability"
AGENT = "eks-pod-identity-agent"


class TestAddOnsForMore:
    @pytest.mark.parametrize("base", [WITH_EKS, ON_EKS])
    def test_none_where_nothing_asks_for_them(self, base):
        spec = {**base, "task_governance": {**TEAMS, "add_on": False}, "metrics": {}}
        assert not {GOVERNANCE, OBSERVABILITY, INSIGHTS} & {each.subject for each in asked(NAME, spec)}

    def test_of_a_cluster_that_is_made(self):
        found = asked(NAME, {**WITH_EKS, **EXTRAS})
        all_ok(found)
        assert [each.subject for each in found] == [*ADD_ONS, GOVERNANCE, OBSERVABILITY, INSIGHTS]

    @pytest.mark.parametrize(
        ("name", "field"),
        [
            (GOVERNANCE, "task_governance.add_on"),
            (OBSERVABILITY, "metrics.prometheus"),
            (INSIGHTS, "metrics.container_insights"),
        ],
    )
    def test_that_eks_does_not_have(self, name, field):
        lacking = {
            OFFERED: lambda asked: (
                {"addons": []} if asked["addonName"] == name else versions("v1.20.0-eksbuild.1")
            )
        }
        said = f"^{name}: EKS has none for Kubernetes 1.33 in us-west-2; .* leave {field} out"
        only(asked(NAME, {**WITH_EKS, **EXTRAS}, lacking), "problem", said)
        found = asked(NAME, {**ON_EKS, **EXTRAS}, {**there("vpc-cni", AGENT), **lacking})
        assert "update the Kubernetes version of training" in only(found, "problem", said).remedy

    def test_of_a_cluster_that_exists(self):
        found = asked(NAME, {**ON_EKS, **EXTRAS}, there("vpc-cni", AGENT))
        all_ok(found, f"^{OBSERVABILITY}: v1.20.4-eksbuild.1 is the default for Kubernetes 1.33$")

    def test_that_is_there_already(self):
        found = asked(NAME, {**ON_EKS, "task_governance": TEAMS}, there("vpc-cni", GOVERNANCE))
        only(found, "problem", "training has it already, .*; set task_governance.add_on to false")
        found = asked(
            NAME, {**ON_EKS, "metrics": {"prometheus": True}}, there("vpc-cni", AGENT, OBSERVABILITY)
        )
        only(
            found, "problem", "the deployment creates it for metrics.prometheus; leave metrics.prometheus out"
        )

    def test_that_the_stack_has_installed_before(self):
        update = {**clusters(llm_train=[]), **there("vpc-cni", AGENT, GOVERNANCE)}
        all_ok(
            asked(NAME, {**ON_EKS, "task_governance": TEAMS}, update), f"{GOVERNANCE}: v1.20.4.* is installed"
        )
        unwell = {**clusters(llm_train=[]), **there("vpc-cni", GOVERNANCE, status="CREATE_FAILED")}
        only(asked(NAME, {**ON_EKS, "task_governance": TEAMS}, unwell), "problem", "it is CREATE_FAILED")

    def test_whose_stack_installed_it_is_unknown(self):
        refused = {("sagemaker", "ListClusters"): denied("sagemaker:ListClusters")}
        found = asked(NAME, {**ON_EKS, "task_governance": TEAMS}, {**refused, **there("vpc-cni", GOVERNANCE)})
        only(found, "cannot tell", f"{GOVERNANCE}: the AWS credentials do not permit sagemaker:ListClusters")

    def test_the_version_of_the_eks_cluster_is_unknown(self):
        refused = {("eks", "DescribeCluster"): denied("eks:DescribeCluster")}
        found = asked(NAME, {**ON_EKS, "task_governance": TEAMS}, refused)
        only(found, "cannot tell", f"{GOVERNANCE}: .* permit eks:DescribeCluster")


class TestAgent:
    PODS = {"training_pods": {"namespace": "kubeflow", "service_account": "trainer"}}

    def test_roles_of_pods_need_it(self):
        found = only(
            asked(NAME, {**ON_EKS, **self.PODS, "metrics": {"prometheus": True}}),
            "problem",
            f"{AGENT}: training lacks it, and pods of training_pods and metrics.prometheus get their role",
        )
        assert found.remedy == (
            f"aws eks create-addon --region us-west-2 --cluster-name training --addon-name {AGENT}"
        )
        all_ok(asked(NAME, {**ON_EKS, **self.PODS}, there("vpc-cni", AGENT)))

    def test_so_does_the_check_of_jobs(self):
        image = "111122223333.dkr.ecr.us-west-2.amazonaws.com/job-figures:1.0.0"
        spec = {**ON_EKS, "metrics": {"job_figures_image": image}}
        only(asked(NAME, spec), "problem", "pods of metrics.job_figures_image get their role through it")
        all_ok(asked(NAME, {**ON_EKS, "metrics": {}}))

    def test_irsa_does_not(self):
        pods = {
            **self.PODS["training_pods"],
            "identity": "irsa",
            "issuer": "oidc.eks.us-west-2.amazonaws.com/id/X",
        }
        all_ok(asked(NAME, {**ON_EKS, "training_pods": pods}))


def test_slurm():
    only(asked(NAME, MADE), "not applicable", "Slurm schedules the jobs")


def test_no_such_eks_cluster():
    found = asked(NAME, ON_EKS, {LIST: Refusal("ResourceNotFoundException", status=404)})
    only(found, "cannot tell", "training: there is no such EKS cluster")


@pytest.mark.parametrize(("spec", "which"), [(ON_EKS, LIST), (ON_EKS, DESCRIBE), (WITH_EKS, OFFERED)])
def test_the_missing_permission_is_named(spec, which):
    action = f"eks:{which[1]}"
    found = asked(NAME, spec, {which: denied(action)})
    assert {each.verdict for each in found} == {"cannot tell"}
    assert all(f"permit {action}; ask for that action" in each.text for each in found)
