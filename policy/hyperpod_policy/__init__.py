"""Policy rules for SageMaker HyperPod templates, without the CDK.

from hyperpod_policy import review

report = review(json.loads(Path("template.json").read_text()))
print(report.text())
"""

from hyperpod_policy.comparison import compare
from hyperpod_policy.documents import Document
from hyperpod_policy.report import Finding, Report
from hyperpod_policy.review import review
from hyperpod_policy.rule import Rule
from hyperpod_policy.update import UpdateRule

__all__ = ["Document", "Finding", "Report", "Rule", "UpdateRule", "compare", "review"]
