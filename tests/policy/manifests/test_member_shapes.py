from __future__ import annotations

import pytest
from job_manifests import put

ID = "MemberShapes"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("container:command", "torchrun a.py", "command 'torchrun a.py'; expected: a list"),
        ("container:args", "a.py", "args 'a.py'; expected: a list"),
        ("container:env", {"A": "b"}, "env {'A': 'b'}; expected: a list"),
        ("container:env/0", "A=b", "entry of env 'A=b'; expected: a mapping"),
        ("container:volumeMounts", {"name": "lustre"}, "expected: a list"),
        ("container:resources", [], "resources []; expected: a mapping"),
        ("container:resources/limits", "8", "limits '8'; expected: a mapping"),
        ("container:securityContext", {"privileged": "true"}, "privileged 'true'; expected: true or false"),
        ("pod:tolerations", {"operator": "Exists"}, "tolerations {'operator': 'Exists'}; expected: a list"),
        ("pod:nodeSelector", ["a=b"], "nodeSelector ['a=b']; expected: a mapping"),
        ("pod:volumes/0", "lustre", "expected: a mapping"),
        ("pod:hostPID", "yes", "hostPID 'yes'; expected: true or false, without quotes"),
        ("pod:containers", {"pytorch": {}}, "expected: a list"),
        ("metadata/annotations", ["a"], "annotations ['a']; expected: a mapping"),
    ],
)
def test_another_shape_fails(judge, kubeflow, path, value, message):
    (finding,) = judge(ID, put(kubeflow, path, value)).failures
    assert message in finding.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("container:command", ["torchrun", 5]),
        ("container:env", None),
        ("container:env", []),
        ("container:securityContext", {"privileged": False}),
        ("pod:hostNetwork", False),
        ("metadata/labels", None),
    ],
)
def test_the_right_shape_and_none_comply(judge, kubeflow, path, value):
    assert judge(ID, put(kubeflow, path, value)).outcome(ID) == "pass"


@pytest.mark.parametrize(
    ("path", "value"), [("container:env", {"Ref": "Environment"}), ("pod:hostNetwork", "${HOST_NETWORK}")]
)
def test_what_is_filled_in_later_is_undetermined(judge, kubeflow, path, value):
    assert judge(ID, put(kubeflow, path, value)).outcome(ID) == "undetermined"


def test_a_job_that_keeps_every_promise_complies(judge, hyperpod):
    assert judge(ID, hyperpod).outcome(ID) == "pass"
