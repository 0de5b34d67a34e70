from __future__ import annotations

import pytest

from hyperpod_model.catalog.repairs import CONDITION_REPAIRS, REASON_KINDS
from hyperpod_model.catalog.xids import RECOVERY_ACTION_XID, UNUSED_XIDS, XID_KINDS, XIDS


def test_every_code_up_to_the_last_is_in_use_or_unused():
    assert UNUSED_XIDS.isdisjoint(XIDS)
    assert sorted(UNUSED_XIDS | set(XIDS)) == list(range(1, 173))


@pytest.mark.parametrize(
    ("code", "mnemonic", "immediate", "kind"),
    [
        (13, "ROBUST_CHANNEL_GR_EXCEPTION", "RESTART_APP", "application"),
        (31, "ROBUST_CHANNEL_FIFO_ERROR_MMU_ERR_FLT", "RESTART_APP", "application"),
        (48, "ROBUST_CHANNEL_GPU_ECC_DBE", "WORKFLOW_XID_48", "memory"),
        (63, "INFOROM_DRAM_RETIREMENT_EVENT", "IGNORE", "information"),
        (64, "INFOROM_DRAM_RETIREMENT_FAILURE", "RESET_GPU", "hardware"),
        (74, "NVLINK_ERROR", "WORKFLOW_NVLINK_ERR", "hardware"),
        (79, "ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS", "RESTART_BM", "hardware"),
        (82, "ROBUST_CHANNEL_NVJPG0_ERROR", "RESTART_APP", "engine"),
        (94, "ROBUST_CHANNEL_CONTAINED_ERROR", "RESTART_APP", "contained_memory"),
        (95, "ROBUST_CHANNEL_UNCONTAINED_ERROR", "RESET_GPU", "memory"),
        (105, "ROBUST_CHANNEL_NVJPG7_ERROR", "RESTART_APP", "engine"),
        (119, "GSP_RPC_TIMEOUT", "RESET_GPU", "software"),
        (135, "ROBUST_CHANNEL_CE19_ERROR", "RESTART_APP", "engine"),
        (149, "NVLINK_NETIR_ERROR", "WORKFLOW_NVLINK5_ERR", "link"),
    ],
)
def test_xids(code: int, mnemonic: str, immediate: str, kind: str):
    xid = XIDS[code]
    assert (xid.mnemonic, xid.immediate, xid.kind.name) == (mnemonic, immediate, kind)


def test_software_is_rebooted_and_hardware_replaced():
    assert XID_KINDS["software"].first == "reboot"
    assert XID_KINDS["hardware"].first == "replace"
    assert XID_KINDS["application"].first == "restart_job"


def test_what_nvidia_ignores_or_restarts_asks_for_no_repair_of_the_node():
    quiet = {"restart_job", "nothing", None}
    for xid in XIDS.values():
        if xid.immediate in ("IGNORE", "RESTART_APP") and xid.code != 157:
            assert xid.kind.first in quiet, xid


def test_what_nvidia_resets_is_repaired():
    for xid in XIDS.values():
        if xid.immediate in ("RESET_GPU", "RESTART_BM", "RESTART_VM"):
            assert xid.kind.first in ("reboot", "replace"), xid


def test_a_fault_that_comes_back_is_never_repaired_less():
    order = ["nothing", "restart_job", "reboot", "replace"]
    for kind in XID_KINDS.values():
        if kind.first is not None and kind.again is not None:
            assert order.index(kind.again) >= order.index(kind.first)


def test_the_sum_of_other_xids_is_listed():
    assert XIDS[RECOVERY_ACTION_XID].kind.first is None


def test_what_the_documentation_does_not_list_is_in_doubt():
    assert CONDITION_REPAIRS["NvidiaErrorReboot"].value == "reboot"
    assert not CONDITION_REPAIRS["NvidiaErrorTerminate"].certain
    assert not REASON_KINDS["XidUserAppError"].certain
    assert {fact.if_certain("application") for fact in REASON_KINDS.values()} <= set(XID_KINDS)
