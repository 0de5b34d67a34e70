from __future__ import annotations

import pytest
from job_manifests import container_of, set_variable

ID = "LiteralSecrets"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_SECRET_ACCESS_KEY", "abc"),
        ("AWS_ACCESS_KEY_ID", "abc"),
        ("WANDB_API_KEY", "abc"),
        ("HF_TOKEN", "abc"),
        ("DB_PASSWORD", "abc"),
        ("CREDENTIALS", "x AKIA" + "ABCDEFGH" * 2),
    ],
)
def test_a_credential_fails(judge, kubeflow, name, value):
    set_variable(kubeflow, name, value)
    (finding,) = judge(ID, kubeflow).failures
    assert f"a value for {name}, which looks like a credential" in finding.message
    assert value not in finding.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN", "${HF_TOKEN}"),
        ("HF_TOKEN", ""),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/token"),
        ("DB_PASSWORD", "/run/secrets/password"),
        ("TOKENIZER", "gpt2"),
        ("MAX_TOKENS", "4096"),
    ],
)
def test_what_is_none_complies(judge, kubeflow, name, value):
    set_variable(kubeflow, name, value)
    assert judge(ID, kubeflow).outcome(ID) == "pass"


def test_a_secret_elsewhere_complies(judge, hyperpod):
    container_of(hyperpod)["env"].append({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {}}})
    assert judge(ID, hyperpod).outcome(ID) == "pass"
