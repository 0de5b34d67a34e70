"""The command `hyperpod-goodput`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hyperpod_lifecycle.goodput.command import main
from hyperpod_lifecycle.goodput.command.arguments import NUMBERS
from hyperpod_lifecycle.goodput.scenario import Scenario

EXAMPLES = Path(__file__).parents[3] / "examples"
CLUSTER = str(EXAMPLES / "clusters" / "llm-train.yaml")
EKS_CLUSTER = str(EXAMPLES / "clusters" / "llm-train-eks.yaml")
TIERED_JOB = str(EXAMPLES / "jobs" / "tiered.yaml")


def said(capsys, *arguments, code=0):
    assert main(arguments) == code
    return capsys.readouterr()


def data(capsys, *arguments):
    return json.loads(said(capsys, *arguments, "--format", "json").out)


def test_every_number_of_a_scenario_is_an_option():
    options = {*NUMBERS, "checkpointless"}
    assert options == set(Scenario.__dataclass_fields__)


class TestEstimate:
    def test_text(self, capsys):
        out = said(capsys, "estimate", "--nodes", "128", "--runs", "50").out
        assert out.startswith("128 nodes with 8 accelerators each and 0 spares, 30 days: 737,280 accelerator")
        assert "50 simulated runs" in out
        assert "lost steps" in out
        assert "node: a node fails, and another one takes its place" in out
        assert "given: nodes=128\n" in out
        assert "claimed by AWS, and not used here" in out

    def test_json_says_where_numbers_are_from(self, capsys):
        found = data(
            capsys, "estimate", "--cluster", EKS_CLUSTER, "--job", TIERED_JOB, "--step-seconds", "6",
            "--days", "10", "--runs", "0",
        )  # fmt: skip
        scenario = found["scenario"]
        assert scenario["days"] == {"value": 10.0, "from": "option"}
        assert scenario["nodes"] == {"value": 8, "from": "job"}
        assert scenario["memory_interval_minutes"] == {"value": 5.0, "from": "job"}
        assert scenario["checkpoint_interval_minutes"] == {"value": 50.0, "from": "job"}
        assert scenario["replacement_minutes"] == {"value": 150.0, "from": "cluster"}
        assert scenario["cluster_share"]["from"] == "assumption"
        assert found["simulated"] is None
        assert [each["to"] for each in found["sent_back"]] == ["memory", "memory"]
        assert 0.9 < found["expected"]["goodput"] < 1

    def test_spares_of_the_cluster_do_not_train(self, capsys):
        scenario = data(capsys, "estimate", "--cluster", CLUSTER, "--runs", "0")["scenario"]
        assert scenario["nodes"]["value"] + scenario["spare_nodes"]["value"] == 16

    def test_claims_are_labelled(self, capsys):
        claims = data(capsys, "estimate", "--nodes", "4", "--runs", "0")["claims_not_used"]
        assert all(claim["doubt"].startswith("AWS states it of its own tests") for claim in claims)

    def test_without_failures(self, capsys):
        out = said(capsys, "estimate", "--nodes", "4", "--failures-per-device-hour", "0", "--runs", "2").out
        assert "no failures" in out
        assert "100.00%" in out


class TestInterval:
    def test_text(self, capsys):
        out = said(capsys, "interval", "--nodes", "128", "--save-stall-seconds", "60", "--runs", "100").out
        assert "A durable checkpoint every 76.4 minutes of training loses least" in out
        assert "By formula: Young 77.1, Daly 76.4 minutes." in out
        assert "the best" in out

    def test_json(self, capsys):
        found = data(capsys, "interval", "--nodes", "128", "--save-stall-seconds", "60", "--runs", "0")
        assert found["best"]["minutes"] == pytest.approx(found["daly_minutes"], rel=0.01)
        assert found["best"]["goodput"] > found["now"]["goodput"]
        assert found["simulated"] == []

    def test_without_a_stall_formulas_say_nothing(self, capsys):
        out = said(capsys, "interval", "--nodes", "128", "--save-minutes", "10", "--runs", "0").out
        assert "Young's and Daly's formulas need a save that stops training" in out

    def test_refuses_where_no_interval_is_best(self, capsys):
        err = said(capsys, "interval", "--nodes", "128", code=2).err
        assert "state how long a save stops training" in err


class TestSpares:
    def test_text(self, capsys):
        out = said(capsys, "spares", "--nodes", "128", "--replacement-minutes", "180", "--most", "2").out
        rows = [line.split() for line in out.splitlines() if line.strip()[:1].isdecimal()]
        assert [row[0] for row in rows] == ["0", "1", "2"]
        assert [row[-1] for row in rows[1:]] == ["yes", "no"]

    def test_json(self, capsys):
        found = data(capsys, "spares", "--nodes", "128", "--replacement-minutes", "180")["spares"]
        assert [each["spare_nodes"] for each in found] == [0, 1, 2, 3, 4]


class TestMeasure:
    @pytest.fixture
    def log(self, tmp_path):
        path = tmp_path / "rank0.log"
        times = [*range(0, 1000, 10), *range(2000, 3000, 10)]
        steps = [*range(100), *range(50, 150)]
        path.write_text(
            "".join(
                f"{datetime.fromtimestamp(1_800_000_000 + time, UTC).isoformat()} step={step}\n"
                for time, step in zip(times, steps, strict=True)
            )
        )
        return str(path)

    def test_text(self, capsys, log):
        out = said(capsys, "measure", log, "--accelerators", "16").out
        assert out.startswith("Goodput 49.83%: 149 steps of 10 s in 0.83 hours and 2 starts.")
        assert "6.67 accelerator-hours made no progress." in out
        assert "restart: 0.28 h, 33.4% of the run" in out

    def test_json(self, capsys, log):
        found = data(capsys, "measure", log)
        assert found["lost_hours"] == pytest.approx(
            {"restart": 1000 / 3600, "lost steps": 500 / 3600}, rel=0.01
        )
        assert found["lost_accelerator_hours"] is None

    def test_exit_code_for_pipelines(self, capsys, log):
        said(capsys, "measure", log, "--at-least", "0.9", code=1)
        said(capsys, "measure", log, "--at-least", "0.4", code=0)

    def test_refusals(self, capsys, log, tmp_path):
        assert "No such file" in said(capsys, "measure", str(tmp_path / "none.log"), code=2).err
        assert "not both" in said(capsys, "measure", log, str(tmp_path), code=2).err
        assert "--pattern is for logs" in said(capsys, "measure", str(tmp_path), "--pattern", "x", code=2).err
        (tmp_path / "bad.jsonl").write_text("{}\n")
        assert "must be a record of version 1" in said(capsys, "measure", str(tmp_path), code=2).err
        assert "must be from 0 to 1, got '90'" in said(capsys, "measure", log, "--at-least", "90", code=2).err


class TestPlots:
    @pytest.mark.parametrize("suffix", ["svg", "png"])
    @pytest.mark.parametrize("command", ["estimate", "interval", "spares"])
    def test_files(self, capsys, tmp_path, suffix, command):
        file = tmp_path / f"plot.{suffix}"
        runs = [] if command == "spares" else ["--runs", "0"]
        stall = ["--save-stall-seconds", "60"]
        out = said(capsys, command, "--nodes", "128", *stall, *runs, "--plot", str(file)).out
        assert out.endswith(f"drawn: {file}\n")
        begin = file.read_bytes()[:200]
        assert begin.startswith(b"\x89PNG") if suffix == "png" else b"<svg" in file.read_bytes()

    def test_same_values_same_bytes(self, capsys, tmp_path):
        files = [tmp_path / name for name in ("a.svg", "b.svg")]
        for file in files:
            said(capsys, "spares", "--nodes", "8", "--plot", str(file))
        assert files[0].read_bytes() == files[1].read_bytes()

    def test_terminal(self, capsys):
        out = said(
            capsys, "interval", "--nodes", "128", "--save-stall-seconds", "60", "--runs", "0", "--plot", "-"
        ).out
        assert "Share of the run lost, by checkpoint interval" in out
        assert "\x1b" not in out

    def test_bars_in_the_terminal_are_in_order(self, capsys):
        out = said(capsys, "estimate", "--nodes", "128", "--runs", "0", "--plot", "-").out
        drawn = out[out.index("Hours lost of 720") :]
        assert drawn.index("job restart") < drawn.index("lost steps") < drawn.index("stopped by saves")

    def test_json_stays_json(self, capsys, tmp_path):
        captured = said(
            capsys, "spares", "--nodes", "8", "--format", "json", "--plot", str(tmp_path / "a.svg")
        )
        json.loads(captured.out)
        assert captured.err.startswith("drawn: ")

    def test_spares_are_counted_whole(self, capsys, tmp_path):
        file = tmp_path / "a.svg"
        said(capsys, "spares", "--nodes", "64", "--plot", str(file))
        labels = re.findall("<!-- ([0-9.]+) -->", file.read_text())
        assert labels[:5] == ["0", "1", "2", "3", "4"]

    @pytest.mark.parametrize(("module", "where"), [("matplotlib", "a.svg"), ("plotext", "-")])
    def test_says_what_to_install(self, capsys, monkeypatch, tmp_path, module, where):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setitem(sys.modules, module, None)
        err = said(capsys, "spares", "--nodes", "8", "--plot", where, code=2).err
        assert f"needs {module}; install it with: pip install 'cdk-hyperpod[plots]'" in err

    def test_refusals(self, capsys, tmp_path):
        assert (
            "must end with .svg or .png, or be -, got 'a.pdf'"
            in said(capsys, "spares", "--nodes", "8", "--plot", "a.pdf", code=2).err
        )
        assert (
            "cannot be written"
            in said(capsys, "spares", "--nodes", "8", "--plot", str(tmp_path / "no" / "a.svg"), code=2).err
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["estimate"], "nodes: is not known; give it, a job, or a cluster with accelerated nodes"),
        (
            ["estimate", "--nodes", "0", "--days", "-1"],
            "--nodes: must be 1 or more, got 0\n--days: must be more",
        ),
        (["estimate", "--nodes", "4", "--runs", "1"], "must be 0, or from 2 to 1000000, got '1'"),
        (["spares", "--nodes", "4", "--most", "1001"], "must be a whole number from 1 to 1000, got '1001'"),
        (["estimate", "--nodes", "4", "--seed", "-1"], "must be a whole number from 0, got '-1'"),
        (["estimate", "--nodes", "4", "--step-seconds", "nan"], "must be more than 0, got 'nan'"),
        (["estimate", "--nodes", "4", "--failures-per-device-hour", "20"], "such a run makes no progress"),
        (
            ["estimate", "--nodes", "12500", "--days", "3660", "--detection-minutes", "0"],
            "simulate fewer (--runs), a shorter run (--days), or none: --runs 0",
        ),
        (["spares", "--nodes", "4", "--most", "0"], "must be a whole number from 1 to 1000, got '0'"),
        (["estimate", "--job", TIERED_JOB], "--step-seconds: is needed, since job 'llama-tiered' counts"),
        (["estimate", "--cluster", TIERED_JOB], f"--cluster {TIERED_JOB}: "),
        (["estimate", "--job", CLUSTER], f"--job {CLUSTER}: "),
    ],
)
def test_refuses(capsys, arguments, message):
    assert message in said(capsys, *arguments, code=2).err


def test_help_loads_neither_numpy_nor_the_specifications():
    probe = (
        "import sys\n"
        "from hyperpod_lifecycle.goodput.command import main\n"
        "main(['--help'])\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert not {"numpy", "pydantic", "matplotlib", "rich", "boto3"} & set(ran.stderr.split())
    assert "measure" in ran.stdout
