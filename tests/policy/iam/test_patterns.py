from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperpod_policy.iam.patterns import admits_any_principal, equal, every, some
from hyperpod_policy.values import Anything, Imported, Parameter, Pseudo, Reference, Text

BUCKET = Reference("Bucket", "Ref")
OTHER = Reference("Other", "Ref")
OBJECT = Text(("arn:", Pseudo("AWS::Partition"), ":s3:::", BUCKET, "/", Anything("object")))


def _arn(*parts):
    return Text(("arn:aws:s3:::", *parts))


@pytest.mark.parametrize(
    ("pattern", "all_of_it", "some_of_it"),
    [
        ("*", True, True),
        ("arn:aws:s3:::*", True, True),
        ("arn:aws:s3:::*/*", True, True),
        (_arn(BUCKET, "/*"), True, True),
        (_arn(BUCKET, "*"), True, True),
        (_arn(BUCKET, "/runs/*"), False, True),
        (_arn(BUCKET, "/?"), False, True),
        (_arn(BUCKET), False, False),
        (_arn(OTHER, "/*"), False, False),
        ("arn:aws:s3:::other/*", False, False),
        (Text((Parameter("Arn"), "/*")), None, None),
        (Parameter("Arn"), None, None),
    ],
    ids=str,
)
def test_patterns_for_objects(pattern, all_of_it, some_of_it):
    assert every(pattern, OBJECT) is all_of_it
    assert some(pattern, OBJECT) is some_of_it


def test_the_partition_of_an_arn_does_not_matter():
    assert every("arn:aws-us-gov:s3:::b", "arn:aws:s3:::b") is True
    assert equal(Text(("arn:", Pseudo("AWS::Partition"), ":s3:::b")), "arn:aws:s3:::b") is True


def test_an_account_has_no_separators():
    role = Text(("arn:aws:iam::", Pseudo("AWS::AccountId"), ":role/a"))
    assert equal(role, "arn:aws:iam::111122223333:role/a") is None
    assert equal(role, "arn:aws:iam::111122223333:role/b") is False
    assert equal(role, "arn:aws:iam::1:role/b:role/a") is False


def test_an_import_is_nothing_that_the_template_makes():
    assert equal(Imported("role"), Reference("Role", "Arn")) is False
    assert equal(Reference("Role", "Arn"), Imported("role")) is False


def test_equality_takes_wildcards_literally():
    assert equal("a*", "ab") is False
    assert equal("a*", "a*") is True
    assert equal("A", "a", ignore_case=True) is True


@pytest.mark.parametrize(
    ("pattern", "wide"),
    [
        ("*", True),
        ("arn:aws:iam::*:role/*", True),
        ("arn:aws:iam::111122223333:*", True),
        ("arn:aws:iam::111122223333:role/*/*", True),
        ("arn:*", True),
        (Text(("arn:aws:iam::", Pseudo("AWS::AccountId"), ":role/*")), True),
        ("arn:aws:iam::111122223333:role/Admin*", False),
        ("arn:aws:iam::*:role/Admin", False),
        ("arn:aws:iam::111122223333:role/Admin", False),
        (Reference("Role", "Arn"), False),
    ],
    ids=str,
)
def test_patterns_that_admit_every_principal(pattern, wide):
    assert admits_any_principal(pattern) is wide


@given(pattern=st.text("ab*?:", max_size=8), text=st.text("ab:", max_size=8))
def test_plain_text_matches_as_a_shell_would(pattern, text):
    assert every(pattern, text) is fnmatch.fnmatchcase(text, pattern)
    assert some(pattern, Text((text, ""))) is fnmatch.fnmatchcase(text, pattern)


@pytest.mark.parametrize(
    ("pattern", "subject", "expected"),
    [
        ("a${*}", "a*", True),
        ("a${*}", "ab", False),
        ("a${?}*", "a?b", True),
        ("a${?}*", "abb", False),
        ("a${$}b", "a$b", True),
    ],
    ids=str,
)
def test_escaped_wildcards_are_themselves(pattern, subject, expected):
    assert every(pattern, subject) is expected
    assert some(pattern, Text((subject, ""))) is expected
