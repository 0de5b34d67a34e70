"""`hyperpod-jobs check-logs`: EFA or TCP, ring or tree, all interfaces or some."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import replace

import pytest
from collective_logs import JobLog

from hyperpod_charts.command.collective_log.expectation import Expectation, expectation_of
from hyperpod_charts.command.collective_log.judgement import judge, transports
from hyperpod_charts.command.collective_log.lines import MAX_LINE_BYTES, telling_lines
from hyperpod_charts.command.collective_log.observation import observe
from hyperpod_model.catalog.collective_logs import ERRORS

EFA = JobLog()
TCP = JobLog(network="Socket", provider=None, gpu_direct=False)


def test_efa_is_told_with_what_it_rests_on(save, run):
    ran = run("check-logs", save("a.log", EFA.text()))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "EFA (2 nodes, 4 processes, 4 ranks)",
        "  versions:    NCCL 2.27.5+cuda12.9, aws-ofi-nccl 1.16.3, libfabric 2.1",
        "  libfabric:   fabric efa-direct, protocol RDMA",
        "  interfaces:  32 found a node; ml.p5.48xlarge has 32",
        "  connections: 8 between nodes, 8 of them with GPUDirect RDMA",
        "  GPUDirect:   enabled for 4",
        "  algorithms:  rings and trees connected; which one each collective takes, "
        "NCCL_DEBUG_SUBSYS=INIT,NET,TUNING says with NCCL 2.24 or later",
    ]


@pytest.mark.parametrize(
    ("log", "code", "transport"),
    [
        (EFA, 0, "EFA"),
        (replace(EFA, network="AWS Libfabric", fabric=None), 0, "EFA"),
        (replace(EFA, connected=False), 0, "EFA"),
        (replace(EFA, nodes=64, devices=8), 0, "EFA"),
        (replace(EFA, platform=None), 0, "EFA"),
        (TCP, 1, "TCP"),
        (replace(EFA, network="Socket"), 1, "TCP"),
        (replace(EFA, network="IB", provider=None), 1, "IB"),
        (replace(EFA, provider="tcp;ofi_rxm", fabric="10.4.0.0/16"), 1, "libfabric over tcp;ofi_rxm"),
    ],
)
def test_the_answer_is_the_exit_code(save, run, log, code, transport):
    ran = run("check-logs", save("a.log", log.text()), "--format", "json")
    assert (ran.code, ran.json["transport"]) == (code, transport)
    assert bool(ran.json["findings"]) == bool(code)


def test_nodes_that_differ_are_named(save, run):
    slow = "".join(line + "\n" for line in TCP.lines() if "worker-1" in line)
    fast = "".join(line + "\n" for line in EFA.lines() if "worker-0" in line)
    ran = run("check-logs", save("a.log", fast + slow), "--format", "json")
    assert (ran.code, ran.json["transport"]) == (1, "EFA and TCP")
    (finding,) = ran.json["findings"]
    assert finding["message"] == "vision-worker-1 must use EFA, got TCP"


def test_several_logs_are_one_job(save, run):
    names = []
    for node in (0, 1):
        lines = [line for line in EFA.lines() if f"worker-{node}" in line]
        names.append(save(f"{node}.log", "\n".join(lines)))
    ran = run("check-logs", *names, "--format", "json")
    assert ran.code == 0
    assert [node["name"] for node in ran.json["nodes"]] == ["vision-worker-0", "vision-worker-1"]


PREFIXES = {
    "kubectl": "[pod/vision-worker-{node}/pytorch] {line}",
    "kubectl with times": "[pod/vision-worker-{node}/pytorch] 2026-11-30T08:01:02.345678901Z {line}",
    "stern": "vision-worker-{node} pytorch {line}",
    "stern in colour": "\x1b[36mvision-worker-{node}\x1b[0m \x1b[96mpytorch\x1b[0m {line}\x1b[0m",
    "torchrun": "[default{node}]:{line}",
    "mpirun": "[1,{node}]<stdout>:{line}",
    "container log": '{{"log":"{line}\\n","stream":"stdout"}}',
    "windows": "{line}\r",
}


@pytest.mark.parametrize("form", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize("log", [EFA, TCP], ids=["efa", "tcp"])
def test_what_stands_around_a_line_does_not_matter(save, run, form, log):
    text = "".join(form.format(node=line[14], line=line) + "\n" for line in log.lines())
    plain = run("check-logs", save("plain.log", log.text()), "--format", "json")
    ran = run("check-logs", save("a.log", text), "--format", "json")
    assert ran.code == plain.code
    for key in ("transport", "nodes", "connections", "gpu_direct_connections", "algorithms", "ranks"):
        assert ran.json[key] == plain.json[key]


def test_lines_of_processes_may_be_mixed(save, run):
    lines = list(EFA.lines())
    mixed = [
        line for chunk in itertools.zip_longest(*(lines[i::7] for i in range(7))) for line in chunk if line
    ]
    one, other = (
        run("check-logs", save("a.log", "\n".join(text)), "--format", "json").json for text in (lines, mixed)
    )
    assert one == other


def test_of_a_job_that_started_again_the_last_start_counts(save, run):
    again = EFA.text().replace(":100:", ":900:").replace(":101:", ":901:")
    ran = run("check-logs", save("a.log", replace(EFA, network="Socket", connected=False).text() + again))
    assert ran.code == 0
    assert ran.out.startswith("EFA (2 nodes, 8 processes, 4 ranks)")


def test_tuning_lines_tell_the_algorithms(save, run):
    log = replace(
        EFA,
        tuning=(
            "AllReduce: 4096 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..0}",
            "AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..7}",
            "AllGather: 8388608 Bytes -> Algo Ring proto Simple channel{Lo..Hi}={0..7}",
            "AllReduce: 8388608 Bytes -> Algo NVLSTREE proto SIMPLE channel{Lo..Hi}={0..7}",
        ),
    )
    ran = run("check-logs", save("a.log", log.text()))
    assert "  algorithms:  chosen: ring 2 times, tree 1 times, NVLS tree 1 times" in ran.out.splitlines()
    said = run("check-logs", "a.log", "--format", "json").json["algorithms"]
    assert said == {"connected": ["rings", "trees"], "chosen": {"ring": 2, "tree": 1, "NVLS tree": 1}}


def test_neither_ring_nor_tree(save, run):
    ran = run("check-logs", save("a.log", replace(EFA, connected=False).text()))
    assert "  algorithms:  not told: neither rings nor trees were connected" in ran.out.splitlines()
    assert "  connections: none between nodes yet, as far as the log goes" in ran.out.splitlines()


@pytest.mark.parametrize(
    ("log", "options", "got", "fix"),
    [
        (replace(EFA, nics=8), (), "32 interfaces, as ml.p5.48xlarge has, got 8", "request all of them"),
        (
            replace(EFA, nics=33),
            (),
            "32 interfaces, as ml.p5.48xlarge has, got 33",
            "device plugin is current",
        ),
        (
            replace(EFA, nics=10, platform=None),
            ("--instance-type", "ml.p6-b200.48xlarge"),
            "8 interfaces, as ml.p6-b200.48xlarge has, got 10",
            "controllers of NVLink",
        ),
        (
            replace(EFA, platform=None),
            ("--interfaces", "4"),
            "4 interfaces, as --interfaces says, got 32",
            "",
        ),
        (
            replace(EFA, platform="P4d", nics=1),
            (),
            "4 interfaces, as ml.p4d.24xlarge has, got 1",
            "request all of them",
        ),
    ],
)
def test_a_wrong_number_of_interfaces(save, run, log, options, got, fix):
    ran = run("check-logs", save("a.log", log.text()), *options, "--format", "json")
    assert ran.code == 1
    (finding,) = ran.json["findings"]
    assert got in finding["message"]
    assert fix in finding["fix"]


@pytest.mark.parametrize(
    ("nics", "platform", "options"),
    [
        (8, "p5.48xlarge", ("--interfaces", "8")),
        (7, None, ()),  # nothing tells the type
        (7, "p9.48xlarge", ()),  # a type that the catalog lacks
        (7, "p6e-gb200.36xlarge", ()),  # whose number is in doubt
        (1, None, ("--instance-type", "ml.g5.48xlarge")),
    ],
)
def test_a_number_that_may_be_right_is_no_finding(save, run, nics, platform, options):
    log = replace(EFA, nics=nics, platform=platform)
    assert run("check-logs", save("a.log", log.text()), *options).code == 0


def test_a_job_tells_what_its_pods_ask_for(save, run, job):
    log = save("a.log", replace(EFA, platform=None, nics=16).text())
    job |= {"accelerators": 4}
    assert run("check-logs", log, "--job", save("job.yaml", job)).code == 0
    job |= {"accelerators": 8}
    ran = run("check-logs", log, "--job", save("job.yaml", job))
    assert ran.code == 1
    assert "must find 32 interfaces, as job vision requests, got 16" in ran.out


def test_a_type_without_efa_is_told_so(save, run):
    ran = run("check-logs", save("a.log", TCP.text()), "--instance-type", "ml.g5.xlarge", "--format", "json")
    (finding,) = ran.json["findings"]
    assert (ran.code, finding["fix"]) == (1, "ml.g5.xlarge has no EFA; take a type that has")


@pytest.mark.parametrize(
    ("platform", "options", "code"),
    [
        ("p5.48xlarge", (), 1),
        (None, ("--instance-type", "ml.p4d.24xlarge", "--interfaces", "32"), 1),
        (None, ("--instance-type", "ml.g5.48xlarge", "--interfaces", "32"), 0),
        (None, (), 0),
    ],
)
def test_gpudirect_must_be_used_where_the_type_has_it(save, run, platform, options, code):
    log = replace(EFA, gpu_direct=False, platform=platform)
    ran = run("check-logs", save("a.log", log.text()), *options, "--format", "json")
    assert ran.code == code
    assert [finding["id"] for finding in ran.json["findings"]] == ["gpu-direct"] * code


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.id)
@pytest.mark.parametrize("in_nccl", [True, False], ids=["nccl", "bare"])
def test_every_known_error_is_told(save, run, error, in_nccl):
    for words in error.says:
        begin = "vision-worker-1:100:300 [0] ofi_init:88 NCCL WARN NET/OFI " if in_nccl else "libfabric: "
        if words.startswith(("NET/", "NCCL_")):
            begin = "vision-worker-1:100:300 [0] NCCL INFO "
        text = f"ready\n{begin}{words}=1 so it is\n" + EFA.text()
        ran = run("check-logs", save("a.log", text), "--format", "json")
        (finding,) = ran.json["findings"]
        assert (ran.code, finding["id"], finding["line"], finding["file"]) == (1, error.id, 2, "a.log")
        assert finding["fix"] == error.fix


def test_an_abort_alone_is_told(save, run):
    text = (
        "[pod/a-worker-0/pytorch] FI_EFA_USE_DEVICE_RDMA=1 was set by user, but EFA device has no rdma-read "
        "capability.  Application will abort().\n"
    ) * 3
    ran = run("check-logs", save("a.log", text))
    assert ran.code == 1
    assert "has no RDMA read on a-worker-0, 3 times" in ran.out
    assert "  at:  a.log:1" in ran.out.splitlines()


def test_a_fallback_to_tcp_is_told_with_its_cause(save, run):
    lines = []
    for line in TCP.lines():
        if line.endswith("Using network Socket"):
            source = line.partition(" NCCL INFO ")[0]
            lines += [
                f"{source} NCCL INFO NET/OFI No eligible providers were found",
                f"[2026-11-30 08:00:01] {source} int create(plugin**):352 NCCL WARN NET/OFI aws-ofi-nccl "
                "initialization failed",
            ]
        lines.append(line)
    ran = run("check-logs", save("a.log", "\n".join(lines)), "--format", "json")
    assert [finding["id"] for finding in ran.json["findings"]] == [
        "no-efa-provider",
        "plugin-failed",
        "not-efa",
    ]
    assert ran.json["transport"] == "TCP"


def test_other_warnings_are_shown_and_are_no_findings(save, run):
    text = EFA.text() + "vision-worker-0:100:300 [0] NCCL WARN Missing nothing of importance\n"
    ran = run("check-logs", save("a.log", text))
    assert ran.code == 0
    assert f"  a.log:{text.count(chr(10))}: Missing nothing of importance" in ran.out.splitlines()


def test_a_node_that_does_not_tell_is_a_warning(save, run):
    text = EFA.text() + "vision-worker-9:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.4.9.7<0>\n"
    ran = run("check-logs", save("a.log", text), "--format", "json")
    assert (ran.code, [finding["severity"] for finding in ran.json["findings"]]) == (0, ["warning"])


NEURON = "2026-Nov-30 08:00:01.0042 {pid}:{pid}9 [{device}] {said}\n"


def test_neuron_is_judged_by_its_provider(save, run):
    text = "".join(
        f"[pod/n-worker-{node}/pytorch] "
        + NEURON.format(
            pid=10 + node, device=0, said="CCOM INFO NET/OFI Selected provider is efa (found 8 nics)"
        )
        for node in (0, 1)
    )
    ran = run("check-logs", save("a.log", text), "--instance-type", "ml.trn1.32xlarge", "--format", "json")
    assert (ran.code, ran.json["transport"]) == (0, "EFA")
    assert [node["name"] for node in ran.json["nodes"]] == ["n-worker-0", "n-worker-1"]
    failed = NEURON.format(
        pid=1, device=0, said="int make(x**):354 CCOM WARN NET/OFI aws-ofi-nccl initialization failed"
    )
    ran = run("check-logs", save("b.log", failed), "--format", "json")
    assert (ran.code, ran.json["transport"]) == (1, "no network")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.log holds no line of NCCL; set NCCL_DEBUG=INFO"),
        ("step 1 loss 0.5\n" * 100, "a.log holds no line of NCCL; set NCCL_DEBUG=INFO"),
        ("NCCL version 2.27.5+cuda12.9\n", "a.log holds 1 lines of NCCL, and none that tells the network"),
        (
            "\n".join(line for line in EFA.lines() if "Bootstrap" in line),
            "a.log holds 4 lines of NCCL, and none that tells the network",
        ),
    ],
)
def test_a_log_that_does_not_tell_ends_with_2(save, run, text, message):
    ran = run("check-logs", save("a.log", text))
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_standard_input_is_read(run):
    ran = run("check-logs", "-", standard_input=TCP.text())
    assert ran.code == 1
    assert run("check-logs", "-", standard_input=b"\xff\x00\n").code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.log"], "none.log cannot be read: No such file or directory"),
        (["."], ". cannot be read: Is a directory"),
        (["a.log", "--instance-type", "ml.p5.48xlrge"], "did you mean ml.p5.48xlarge"),
        (["a.log", "--interfaces", "0"], "must be a number from 1 to 1024, got '0'"),
        (["a.log", "--instance-type", "a", "--job", "b"], "not allowed with argument"),
        (["a.log", "--job", "none.yaml"], "none.yaml: is not there"),
        (["a.log", "--job", "job.yaml"], "--job job.yaml: nodes"),
    ],
)
def test_wrong_options(save, run, job, arguments, message):
    save("a.log", EFA.text())
    job["nodes"] = 0
    save("job.yaml", job)
    ran = run("check-logs", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


class _Endless:
    """A stream that makes its lines as they are read."""

    def __init__(self, count: int) -> None:
        self._lines = itertools.chain(
            (line.encode() + b"\n" for line in EFA.lines()),
            (b"step %d loss 0.5\n" % number for number in range(count)),
            (b"x" * MAX_LINE_BYTES for _ in range(count // 1000)),
        )

    def readline(self, size: int) -> bytes:
        line = next(self._lines, b"")
        assert len(line) <= size
        return line


def test_a_huge_log_takes_no_memory():
    tracemalloc.start()
    try:
        seen = observe(telling_lines(_Endless(100_000), file="a.log"))  # type: ignore[arg-type]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert set(transports(seen).values()) == {("EFA",)}
    assert peak < 2 * 2**20


def test_a_line_that_is_read_in_parts_counts_once(save, run):
    text = "y" * (3 * MAX_LINE_BYTES) + "\n" + "w-0:1:1 [0] NCCL WARN Unresponsive receiver\n"
    ran = run("check-logs", save("a.log", text), "--format", "json")
    assert [finding["line"] for finding in ran.json["findings"]] == [2]


def test_every_type_is_expected_with_the_interfaces_of_the_catalog():
    assert expectation_of("ml.p5.48xlarge").interfaces == 32
    assert expectation_of("ml.p6e-gb200.36xlarge").interfaces is None
    assert judge(observe(()), Expectation()) == ()
