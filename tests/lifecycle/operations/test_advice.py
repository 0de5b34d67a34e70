"""Reboot, replace, or leave alone."""

from __future__ import annotations

import pytest

from hyperpod_lifecycle.operations.advice import advise, xids_in
from hyperpod_lifecycle.operations.node_health import NodeHealth, SeenFault

XID = "NVRM: Xid (PCI:0000:b9:00): {}, pid=<unknown>, name=<unknown>, said the driver"


def fault(message: str, **parts: str) -> SeenFault:
    return SeenFault(message=message, source="health agent", **parts)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (XID.format(79), (79,)),
        ("NVRM: Xid (0000:06:00): 31, Ch 0000007e", (31,)),
        ("Xid 48 and Xid 63", (48, 63)),
        ("XID Error: 94", (94,)),
        ('"condition: ":"XID Error", "ErrNum": 31', (31,)),
        ("xid=74", (74,)),
        ("XidHardwareFailure", ()),
        ("nothing of 79", ()),
        ("NVRM: SXid (PCI:0000:01:00.0): 12028, Non-fatal", ()),
    ],
)
def test_xids_are_found(text, codes):
    assert xids_in(text) == codes


@pytest.mark.parametrize(
    ("text", "repair", "why"),
    [
        (XID.format(79), "replace", "GPU has fallen off the bus; hardware"),
        (XID.format(64), "replace", "row could not be remapped"),
        (XID.format(119), "reboot", "GSP RPC timeout; software"),
        (XID.format(95), "reboot", "a reset repairs"),
        (XID.format(31), "restart_job", "the GPU is healthy"),
        (XID.format(63), "nothing", "in use from the next reset"),
        (XID.format(999), None, "Xid 999: it is not in NVIDIA's catalog of 20"),
        (XID.format(5), None, "NVIDIA lists it as unused"),
        (XID.format(167), None, "NVIDIA names no action"),
        ("Xid 154 GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)", "reboot",
         "asks for 'Node Reboot Required'"),
        ("Xid 154 GPU recovery action changed from 0x2 (Node Reboot Required) to 0x0 (None)", "nothing",
         "asks for 'None'"),
        ("Xid 154 without its text", None, "says what the other Xids need"),
        ("XidHardwareFailure", "replace", "XidHardwareFailure: the GPU, its power or its links"),
        ("XidUserAppError", "restart_job", "not certain"),
        ("Encountered FaultyInstance. Replace the Instance.", "replace", "deep health checks"),
        ("Node condition NvidiaErrorReboot is now: True", "reboot", "NvidiaErrorReboot asks to reboot it"),
        ("Node condition NvidiaErrorTerminate is now: True", "replace", "not certain"),
        ("the fan is loud", None, "not in the catalog of faults"),
    ],
)  # fmt: skip
def test_what_a_fault_asks_for(text, repair, why):
    advice = advise([fault(text)])
    assert advice.repair == repair
    assert any(why in one.why for one in advice.evidence)


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        (XID.format(119), "replace"),
        (XID.format(94), "reboot"),
        (XID.format(71), "replace"),
        (XID.format(31), "restart_job"),
        ("NvidiaErrorReboot", "replace"),
    ],
)
def test_what_comes_back_asks_for_more(text, repair):
    assert advise([fault(text)], rebooted=True).repair == repair


def test_the_documented_detection_is_a_reboot():
    """The sample of the documentation: an Xid that fails one application, for which the agent reboots."""
    message = f'Node condition NvidiaErrorReboot is now: True, reason: XidHardwareFailure, "{XID.format(71)}"'
    assert advise([fault(message, kind="NvidiaErrorReboot", reason="XidHardwareFailure")]).repair == "reboot"


def test_the_most_thorough_repair_wins_and_all_evidence_is_told():
    advice = advise([fault(XID.format(31)), fault(XID.format(79)), fault(XID.format(999))])
    assert advice.repair == "replace"
    assert [one.repair for one in advice.evidence] == ["restart_job", "replace", None]


@pytest.mark.parametrize(
    ("state", "repair"),
    [
        ("UnschedulablePendingReplacement", "replace"),
        ("UnschedulablePendingReboot", "reboot"),
        ("Unschedulable", None),
        ("Schedulable", None),
    ],
)
def test_what_hyperpod_marked(state, repair):
    assert advise([], health=NodeHealth(state=state)).repair == repair


def test_faults_that_the_orchestrator_tells_count():
    health = NodeHealth(state="Schedulable", faults=(fault(XID.format(79)),))
    assert advise([], health=health).repair == "replace"


def test_words():
    assert advise([]).words == "no fault is known of it: nothing to do"
    assert "run deep health checks" in advise([fault(XID.format(999))]).words
    assert advise([fault(XID.format(79))]).words == "replace the node"
