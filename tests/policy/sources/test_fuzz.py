"""Whatever the input is, it is reviewed or refused in one line, and soon."""

from __future__ import annotations

import copy
import io
import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hyperpod_policy import Report
from hyperpod_policy.review_sources import review_sources
from hyperpod_policy.sources import UnusableInputError, load

SECONDS = 15
"""Of processor time for one input; ten times what the slowest takes on a slow machine."""

EXAMPLES = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def survives(content: bytes) -> bool:
    """Review some input; tell whether it was reviewed and not refused."""
    start = time.process_time()
    refusal = ""
    report = Report(())
    try:
        report = review_sources(load(["-"], region="us-west-2", standard_input=io.BytesIO(content)))
    except UnusableInputError as error:
        refusal = str(error)
    assert time.process_time() - start < SECONDS
    assert refusal.isprintable()
    lines = len(content.decode(errors="replace").splitlines()) + 1
    for finding in report.verdicts:
        assert finding.line is None or 1 <= finding.line <= lines
    report.text().encode()
    return not refusal


@EXAMPLES
@given(st.binary(max_size=400))
@example(b"\xef\xbb\xbf{}")
@example(b"\xff\xfe")
@example(b"%YAML 9.9\n---\n")
@example(b"\xc2\x85")
def test_any_bytes(content):
    survives(content)


PIECES = [
    *("a", "<<", "---\n", "...\n", "- ", ": ", "  ", "&a ", "*a ", "!Ref ", "!!map ", "!<x> "),
    *("Resources:\n", "Type: AWS::SageMaker::Cluster\n", "\r\n", "\u2028", "\ufeff"),
    *"[]{},:-?!&*#|>@`\"'\\%~ \n\t",
]


@EXAMPLES
@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_any_yaml_like_text(pieces):
    survives("".join(pieces).encode())


NAMES = [
    "Cluster",
    "Checkpoints",
    "NodeGroup",
    "NodeRole",
    "AWS::Region",
    "AWS::NoValue",
    "AWS::StackId",
    "P",
    "Nope",
]
FUNCTIONS = [
    *("Ref", "Condition", "Fn::GetAtt", "Fn::Sub", "Fn::Join", "Fn::Split", "Fn::Select", "Fn::If"),
    *("Fn::FindInMap", "Fn::ImportValue", "Fn::Base64", "Fn::Cidr", "Fn::Transform", "Fn::Equals", "Fn::And"),
    *("Fn::Or", "Fn::Not", "Fn::Length", "Fn::ToJsonString", "Fn::GetAZs", "Fn::Unknown"),
]
TEXTS = [
    *(
        "*",
        "",
        "true",
        "-1",
        "9200",
        "0.0.0.0/0",
        "::/0",
        "10.0.0.0/99",
        "tcp",
        "s3:*",
        "${P}",
        "${",
        "${!a}",
    ),
    *("{{resolve:ssm:a}}", "{{resolve:", "arn:aws:s3:::b/*", "arn:::::", "\0", "2012-10-17", "a.b", ","),
]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(NAMES),
    st.sampled_from(TEXTS),
    st.text(max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(FUNCTIONS), inner, min_size=1, max_size=1),
        st.dictionaries(st.sampled_from(FUNCTIONS), st.lists(inner, max_size=4), min_size=1, max_size=1),
        st.dictionaries(st.sampled_from([*NAMES, "Key", "Value", "Type", "Properties"]), inner, max_size=4),
    ),
    max_leaves=12,
)
CHANGES = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from(["delete", "replace", "insert"]), VALUES),
    min_size=1,
    max_size=8,
)
SECTIONS = st.fixed_dictionaries(
    {},
    optional={
        "Parameters": st.dictionaries(st.just("P"), VALUES, max_size=1),
        "Conditions": st.dictionaries(st.just("P"), VALUES, max_size=1),
        "Mappings": st.dictionaries(st.just("P"), VALUES, max_size=1),
        "Outputs": st.dictionaries(st.just("P"), VALUES, max_size=1),
    },
)


def _spots(value: Any, path: tuple[Any, ...] = ()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _spots(item, (*path, key))


def _changed(template: dict[str, Any], changes: list[tuple[float, str, Any]]) -> dict[str, Any]:
    found = copy.deepcopy(template)
    for where, how, value in changes:
        spots = list(_spots(found))
        if not spots:
            break
        *path, last = spots[int(where * len(spots))]
        parent: Any = found
        for step in path:
            parent = parent[step]
        if how == "delete":
            del parent[last]
        elif how == "replace" or isinstance(parent, dict):
            parent[last] = value
        else:
            parent.insert(last, value)
    return found


@pytest.mark.parametrize("written", [json.dumps, yaml.safe_dump])
@pytest.mark.parametrize("orchestrator", ["slurm", "eks"])
@EXAMPLES
@given(changes=CHANGES, sections=SECTIONS)
def test_any_change_of_a_template(template, eks_template, orchestrator, written, changes, sections):
    whole = template if orchestrator == "slurm" else eks_template
    survives(written({**_changed(whole, changes), **sections}).encode())


@EXAMPLES
@given(
    resource=st.dictionaries(st.sampled_from(["Properties", "DependsOn", "Condition", "Metadata"]), VALUES)
)
def test_any_cluster(resource):
    resources = {"Cluster": {**resource, "Type": "AWS::SageMaker::Cluster"}}
    assert survives(json.dumps({"Resources": resources}).encode())


@EXAMPLES
@given(VALUES)
def test_any_manifest(body):
    assert survives(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [body], "metadata": body}).encode()
    )


SHORT = st.sampled_from(
    ["Ref", "Sub", "GetAtt", "If", "Join", "Select", "Transform", "x", "!str", "!int", "!map"]
)


PLAIN = st.sampled_from(["A", "1", "01", "1e3", "2010-09-09", "1:2", "~", "A.B", '""'])


@st.composite
def tagged(draw: st.DrawFn, depth: int = 0) -> str:
    """Text of a YAML value in flow style, with tags, anchors and aliases."""
    mark = draw(st.sampled_from(["", "", "&a ", "&b "]))
    tag = f"!{draw(SHORT)} " if draw(st.booleans()) else ""
    kind = draw(st.integers(0, 2 if depth > 3 else 5))
    if kind == 0:
        return draw(st.sampled_from(["*a", "*b"]))
    if kind <= 2:
        return f"{mark}{tag}{draw(PLAIN)}"
    inner = [draw(tagged(depth + 1)) for _ in range(draw(st.integers(0, 3)))]
    if kind == 3:
        keys = draw(st.permutations(["Type", "<<", "Properties", "A"]))
        return f"{mark}{tag}{{{', '.join(f'{key}: {one}' for key, one in zip(keys, inner, strict=False))}}}"
    return f"{mark}{tag}[{', '.join(inner)}]"


@EXAMPLES
@given(tagged(), tagged())
def test_any_tags(one, other):
    text = f"A: {one}\nResources:\n  Cluster:\n    Type: AWS::SageMaker::Cluster\n    Properties: {other}\n"
    survives(text.encode())
