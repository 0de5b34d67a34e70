from __future__ import annotations

from datetime import date

import pytest

from hyperpod_model.faults import InvalidInputError
from hyperpod_policy.acknowledgement_file import read_acknowledgements
from hyperpod_policy.acknowledgements import Acknowledgement
from hyperpod_policy.sources import UnusableInputError


@pytest.fixture
def read(tmp_path):
    def of(content: str):
        file = tmp_path / "acks.yaml"
        file.write_text(content)
        return read_acknowledgements(file)

    return of


def test_an_acknowledgement_is_read_with_its_line(read, tmp_path):
    found = read(
        "# reviewed on Monday\n"
        "acknowledgements:\n"
        "  - id: HyperPodChecks::BucketVersioning\n"
        "    resource: Checkpoints\n"
        "    reason: >-\n"
        "      versions are kept\n"
        "      elsewhere\n"
        "    expires: 2030-01-31\n"
        "    file: stacks/t.yaml\n"
        "  - {id: NodeRecovery, resource: Cluster, reason: by hand}\n"
    )
    by = str(tmp_path / "acks.yaml")
    assert found == (
        Acknowledgement(
            rule_id="BucketVersioning",
            resource="Checkpoints",
            reason="versions are kept elsewhere",
            by=by,
            line=3,
            number=0,
            file="stacks/t.yaml",
            expires=date(2030, 1, 31),
        ),
        Acknowledgement(
            rule_id="NodeRecovery", resource="Cluster", reason="by hand", by=by, line=10, number=1
        ),
    )


@pytest.mark.parametrize("content", ["", "# nothing yet\n", "acknowledgements:\n", "acknowledgements: []\n"])
def test_a_file_may_accept_nothing(read, content):
    assert read(content) == ()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", "line 1: is no mapping; its fields are acknowledgements"),
        ("{}", "line 1: has no 'acknowledgements'; write 'acknowledgements:' and below it a list"),
        ("acknowledgement: []", "acknowledgement (line 1): is no field; fields are acknowledgements"),
        ("acknowledgements: {}", "acknowledgements (line 1): is no list; begin each"),
        ("acknowledgements: [a]", "acknowledgements[0] (line 1): is no mapping; its fields are id, resource"),
        ("acknowledgements:\n- {resource: B, reason: c}", "acknowledgements[0] (line 2): has no 'id'"),
        ("acknowledgements:\n- {id: A, reason: c}", "has no 'resource'; each needs id, resource, reason"),
        ("acknowledgements:\n- {id: A, resource: B}", "has no 'reason'"),
        (
            "acknowledgements:\n- {id: A, resource: B, reason: ' '}",
            "acknowledgements[0].reason (line 2): needs a reason that a reviewer can judge",
        ),
        (
            "acknowledgements:\n- {id: '', resource: B, reason: c}",
            "acknowledgements[0].id (line 2): is empty",
        ),
        ("acknowledgements:\n- {id: A, resource: 1, reason: c}", "must be text, got 1; put it in quotes"),
        ("acknowledgements:\n- {id: A, resource: B, reason: [c]}", "must be text, got ['c']"),
        (
            "acknowledgements:\n- {id: A, resource: B, reason: c, expires: tomorrow}",
            "acknowledgements[0].expires (line 2): must be a date such as 2027-01-31, got 'tomorrow'",
        ),
        ("acknowledgements:\n- {id: A, resource: B, reason: c, expires: 2030-02-30}", "must be a date"),
        ("acknowledgements:\n- {id: A, resource: B, reason: c, until: x}", "acknowledgements[0].until"),
        (
            "acknowledgements:\n- {id: A, resource: B, reason: c}\n- {id: A, resource: B, reason: d}",
            "acknowledgements[1] (line 3): accepts A on B again, first on line 2; keep one reason",
        ),
        ("acknowledgements: []\n---\nacknowledgements: []", "holds several documents"),
    ],
)
def test_a_fault_is_told_with_its_line(read, content, words):
    with pytest.raises(InvalidInputError) as refused:
        read(content)
    assert words in str(refused.value)


def test_all_faults_are_told_together(read):
    with pytest.raises(InvalidInputError) as refused:
        read("acknowledgements:\n- {id: A, reson: c}\n- 7\n")
    assert len(refused.value.faults) == 4


@pytest.mark.parametrize(
    "content", ["acknowledgements: [", "[" * 10_000, "a: !!python/object:os.system x", "\x00", "a: &a [*a]"]
)
def test_what_is_no_yaml_is_refused_in_one_line(read, content):
    with pytest.raises(UnusableInputError) as refused:
        read(content)
    assert "\n" not in str(refused.value)


def test_the_same_finding_in_two_templates_is_accepted_twice(read):
    found = read(
        "acknowledgements:\n"
        "- {id: A, resource: B, reason: c, file: x.yaml}\n"
        "- {id: A, resource: B, reason: d, file: y.yaml}\n"
    )
    assert [one.reason for one in found] == ["c", "d"]
