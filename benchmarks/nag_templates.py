"""Let a pack of cdk-nag judge templates.

``nag_templates.py PACK FOLDER OUT`` leaves ``OUT/validation-report.json``.

Each template of the folder is included in a stack of its own, named like its file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hyperpod_constructs.bundled_node import prefer_bundled_node

prefer_bundled_node()

from aws_cdk import App, DefaultStackSynthesizer, Stack, Validations  # noqa: E402
from aws_cdk.cloudformation_include import CfnInclude  # noqa: E402
from cdk_nag import AwsSolutionsChecks, NIST80053R5Checks  # noqa: E402


def main(pack: str, folder: Path, out: Path) -> None:
    app = App(outdir=str(out), analytics_reporting=False, stack_traces=False)
    for path in sorted(folder.glob("*.json")):
        # the template has the parameter that the synthesizer would add
        plain = DefaultStackSynthesizer(generate_bootstrap_version_rule=False)
        CfnInclude(Stack(app, path.stem, synthesizer=plain), "T", template_file=str(path))
    checks = AwsSolutionsChecks(app) if pack == "AwsSolutions" else NIST80053R5Checks(app)
    Validations.of(app).add_plugins(checks)
    app.synth()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
