import pytest

from hyperpod_model.faults import UNKNOWN, Fault, InvalidInputError, dotted, refuse


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("name",), "name"),
        (("instance_groups", 2, "instance_type"), "instance_groups[2].instance_type"),
        ((0, "a"), "[0].a"),
    ],
)
def test_paths_read_like_the_users_file(path, text):
    assert dotted(path) == text


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault(("a", 1), "is wrong"), "a[1]: is wrong"),
        (Fault(("a",), "is wrong", line=7), "a (line 7): is wrong"),
        (Fault((), "is wrong", line=7), "line 7: is wrong"),
        (Fault((), "is wrong"), "is wrong"),
    ],
)
def test_a_fault_says_where(fault, text):
    assert str(fault) == text


def test_every_error_is_reported_together():
    warning = Fault(("c",), "is odd", severity="warning")
    with pytest.raises(InvalidInputError, match="a: is wrong\nb: is worse") as caught:
        refuse([Fault(("a",), "is wrong"), warning, Fault(("b",), "is worse")])
    assert [fault.path for fault in caught.value.faults] == [("a",), ("b",)]


def test_warnings_alone_pass_and_come_back():
    warning = Fault(("c",), "is odd", severity="warning")
    assert refuse([warning]) == (warning,)


def test_unknown_is_told_from_any_value():
    assert repr(UNKNOWN) == "<known after deploy>"
    assert UNKNOWN != "<known after deploy>"
