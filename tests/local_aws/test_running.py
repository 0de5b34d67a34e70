import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from aws_double import ACCOUNT, LIMITS
from aws_double.running import Running, environment_for, running


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(folder=tmp_path_factory.mktemp("double"), region="eu-central-1") as started:
        yield started


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_listens_on_this_machine_only_as_the_one_account(double: Running) -> None:
    assert double.endpoint.startswith("http://127.0.0.1:")
    assert double.session().client("sts").get_caller_identity()["Account"] == ACCOUNT
    assert "sts" in double.log.read_text() or "POST" in double.log.read_text()


def test_each_region_has_its_own_stacks(double: Running) -> None:
    properties = {"Type": "String", "Value": "a"}
    template = json.dumps({"Resources": {"A": {"Type": "AWS::SSM::Parameter", "Properties": properties}}})
    here, there = (double.session(region).client("cloudformation") for region in (None, "ap-south-1"))

    stack_id = here.create_stack(StackName="one", TemplateBody=template)["StackId"]

    assert ":eu-central-1:" in stack_id
    assert there.list_stacks()["StackSummaries"] == []


@pytest.mark.parametrize(
    ("service", "operation", "parameters"),
    [
        ("cloudformation", "detect_stack_drift", {"StackName": "one"}),
        ("cloudformation", "create_stack_set", {"StackSetName": "one"}),
        ("ecr", "describe_pull_through_cache_rules", {}),
    ],
)
def test_what_the_double_lacks_is_refused_at_once_and_in_words(
    double: Running, service: str, operation: str, parameters: dict[str, str]
) -> None:
    with pytest.raises(ClientError, match=r"(not in|not covered by) this double of") as told:
        getattr(double.session().client(service), operation)(**parameters)

    # Clients try again after answers from 500 on.
    assert told.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_the_audit_trail_has_no_records(double: Running) -> None:
    assert double.session().client("cloudtrail").lookup_events()["Events"] == []


def test_the_environment_leads_to_the_double_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("CDK_DEFAULT_ACCOUNT", "999999999999")
    monkeypatch.setenv("HOME", "/home/someone")

    with running(folder=tmp_path) as started:
        assert alive(started.pid)
        assert "AWS_PROFILE" not in started.environment
        assert started.environment["CDK_DEFAULT_ACCOUNT"] == ACCOUNT
        assert started.environment["AWS_ENDPOINT_URL"] == started.endpoint
        assert started.environment["HOME"] == "/home/someone"
        assert started.settings == environment_for(started.endpoint, region="us-west-2", folder=tmp_path)
        names = [name for name in started.settings if "ENDPOINT" in name]
        assert names == ["AWS_ENDPOINT_URL"]

    assert not alive(started.pid)


def test_it_ends_with_the_process_that_began_it(tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from aws_double.running import running\n"
        "with running(folder=Path(sys.argv[1])) as started:\n"
        "    print(started.pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    folder = str(Path(__file__).parent)
    beginner = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": folder},
    )
    assert beginner.stdout is not None
    pid = int(beginner.stdout.readline())
    assert alive(pid)

    beginner.kill()
    beginner.wait()

    until = time.monotonic() + 10
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(pid)


def test_a_port_that_is_taken_is_told_with_the_log(double: Running, tmp_path: Path) -> None:
    taken = int(double.endpoint.rsplit(":", 1)[1])

    with (
        pytest.raises(RuntimeError, match=r"did not start:[\s\S]*in use"),
        running(folder=tmp_path, port=taken),
    ):
        pass


def test_the_command_says_what_it_is_and_what_it_does_not_show() -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "aws_double", "--port", "0", "--stops-with-input"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
    )
    assert server.stdin is not None
    assert server.stdout is not None

    line = server.stdout.readline().decode()
    server.stdin.close()

    assert server.wait(10) == 0
    assert line.startswith("A double of AWS, not AWS, at http://127.0.0.1:")
    assert all(limit in line for limit in LIMITS)
