"""Principals that mutants let in, and the account of none of them."""

from __future__ import annotations

ANOTHER_ACCOUNT = "444455556666"
ROOT_OF_ANOTHER = f"arn:aws:iam::{ANOTHER_ACCOUNT}:root"
ROLE_OF_ANOTHER = f"arn:aws:iam::{ANOTHER_ACCOUNT}:role/somebody"
OWN_ROLE = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/somebody"}
OWN_ROOT = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
OWN_ROLES = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/*"}
OWN_SSO_ROLES = {
    "Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/aws-reserved/sso.amazonaws.com/*"
}
