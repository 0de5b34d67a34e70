import io

import jsii
import pytest
from aws_cdk import App, Stack, Token, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks
from constructs import IValidation

from hyperpod_constructs.synthesis import synthesize
from hyperpod_constructs.tokens import known
from hyperpod_model.faults import UNKNOWN, Fault, InvalidInputError


@jsii.implements(IValidation)
class _Refusal:
    def __init__(self, *messages):
        self._messages = list(messages)

    def validate(self):
        return self._messages


def run(build):
    stderr = io.StringIO()
    return synthesize(build, stderr=stderr), stderr.getvalue()


def test_a_sound_app_is_silent(tmp_path):
    def build():
        app = App(outdir=str(tmp_path))
        Stack(app, "S")
        return app

    assert run(build) == (0, "")
    assert (tmp_path / "S.template.json").exists()


def test_our_faults_are_one_line_each():
    def build():
        raise InvalidInputError([Fault(("name",), "is wrong"), Fault(("region",), "is unknown")])

    assert run(build) == (1, "error: name: is wrong\nerror: region: is unknown\n")


def test_errors_found_at_synth_are_one_line_each():
    def build():
        app = App()
        Stack(app, "S").node.add_validation(_Refusal("port 9200 is open", "port 9209 is open"))
        return app

    code, text = run(build)
    assert code == 1
    assert text == "error: [S] port 9200 is open\nerror: [S] port 9209 is open\n"


def test_errors_of_the_cdk_itself_have_no_traceback():
    def build():
        app = App()
        ec2.Vpc(Stack(app, "S"), "Vpc", ip_addresses=ec2.IpAddresses.cidr("10.0.0.0/8"))
        return app

    code, text = run(build)
    assert code == 1
    assert "Traceback" not in text
    assert all(line.startswith("error: ") for line in text.splitlines())


def test_unacknowledged_findings_name_the_report(tmp_path):
    def build():
        app = App(outdir=str(tmp_path))
        s3.Bucket(Stack(app, "S"), "Bucket")
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        return app

    code, text = run(build)
    assert code == 1
    *_, last = text.splitlines()
    assert last.startswith("error: the findings above are not acknowledged; ")
    assert "AwsSolutions::AwsSolutions-S1" in text
    assert "validation-report.json" in text


def test_a_fault_of_the_program_keeps_its_traceback():
    def build():
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        run(build)


def test_the_traceback_can_be_asked_for(monkeypatch):
    monkeypatch.setenv("HYPERPOD_TRACEBACK", "1")

    def build():
        raise InvalidInputError([Fault((), "is wrong")])

    with pytest.raises(InvalidInputError, match="is wrong"):
        run(build)


@pytest.mark.parametrize("value", ["text", 7, None, True, ["a"], {"a": 1}])
def test_plain_values_are_known(value):
    assert known(value) == value


def test_tokens_are_unknown():
    stack = Stack()
    assert known(stack.account) is UNKNOWN
    assert known(f"arn:{stack.partition}:iam::x") is UNKNOWN
    assert known(Token.as_number(stack.account)) is UNKNOWN
