"""The key that signs checkpoints."""

from __future__ import annotations

from pydantic import Field

from hyperpod_model.spec_files.spec_model import Items, SpecModel


class CheckpointSigningKeySpec(SpecModel):
    """An HMAC key in KMS: jobs sign the checkpoints they save, and verify them before they load them."""

    verifier_role_arns: Items[str] = Field(
        default=(),
        description=(
            "ARNs of the roles that may verify checkpoints and not sign them, besides the reader_role_arns "
            "of the checkpoint_bucket. They must exist already; the policy of the key lets them in. By "
            "default none."
        ),
    )
