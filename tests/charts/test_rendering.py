"""Jobs as YAML, and the package they come from."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml
from charted import job_spec

import hyperpod_charts
from hyperpod_charts import render
from hyperpod_model.job_spec import NodeSetup


def test_all_objects_of_a_job_are_documents():
    documents = list(yaml.safe_load_all(render(job_spec())))
    assert [found["kind"] for found in documents] == ["PyTorchJob", "NetworkPolicy"]


def test_the_same_job_is_the_same_text():
    assert render(job_spec()) == render(job_spec())


def test_the_text_is_in_an_order_that_people_read():
    text = render(job_spec())
    places = [text.index(word) for word in ("apiVersion:", "kind:", "metadata:", "spec:", "  elasticPolicy:")]
    assert places == sorted(places)
    container = text[text.index("containers:") :]
    places = [container.index(word) for word in ("name: pytorch", "image:", "command:", "args:", "env:")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "value",
    ["true", "on", "No", "1", "1e3", "0x1F", "0755", "null", "~", "a: b", "- a", "#", "", " x ", "é\n"],
)
def test_text_stays_text(value: str):
    """YAML reads words such as ``on`` and ``1e3`` as something else unless they are quoted."""
    job = job_spec(environment={"VALUE": value})
    (made, *_) = yaml.safe_load_all(render(job))
    (container,) = made["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    assert {"name": "VALUE", "value": value} in container["env"]


def test_the_setup_of_the_nodes_counts():
    assert render(job_spec(), node=NodeSetup(threads_per_core=2)) != render(job_spec())


def test_the_network_policy_can_be_left_out():
    assert "NetworkPolicy" not in render(job_spec(), network_policy=False)


def test_every_name_of_the_package_is_there():
    for name in hyperpod_charts.__all__:
        assert getattr(hyperpod_charts, name) is not None
    assert dir(hyperpod_charts) == sorted(hyperpod_charts.__all__)


def test_another_name_is_not():
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = hyperpod_charts.Nothing


def test_importing_the_package_starts_no_process():
    """cdk8s runs in a process of its own, which takes half a second."""
    code = "import sys, hyperpod_charts; print('jsii' in sys.modules, 'cdk8s' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
