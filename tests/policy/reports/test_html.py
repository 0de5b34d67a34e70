"""The page: all that was found, nothing that loads, nothing that a template can inject."""

from __future__ import annotations

import json
import re
import time
from datetime import date
from itertools import pairwise

import pytest
from html_pages import Page, policy_hash

from hyperpod_policy import Report
from hyperpod_policy.command.selection import group_names
from hyperpod_policy.documents import Document
from hyperpod_policy.report import Acknowledged
from hyperpod_policy.reports import html
from hyperpod_policy.reports.subject import Subject
from hyperpod_policy.review import review
from hyperpod_policy.sources import Sources
from hyperpod_policy.trust_map import TrustMap, trust_map

XSS = "\"><img src=x onerror=alert(1)><script>alert(1)</script>'</style></svg></title>{{7*7}}"


def page_of(report, *documents, limits=()) -> str:
    found = trust_map(documents) if documents else TrustMap()
    return html.render(
        report,
        Sources(documents=documents, limits=limits),
        found,
        subject=Subject(templates=len(documents), manifests=0, rules=59),
        groups=group_names(),
        version="1.2.3",
    )


def reviewed(template, file="a/t.json") -> str:
    document = Document(template, file=file)
    return page_of(review(document), document)


@pytest.fixture
def page(report):
    return Page(page_of(report))


def test_every_finding_is_there_with_all_that_is_known_of_it(page, report):
    articles = page.with_class("finding")
    assert len(articles) == len(report.findings) == 6
    for words in (
        "2 errors, 1 warning, 1 advice, 1 undetermined, 1 acknowledged",
        "Buckets keep old versions",
        "VersioningConfiguration.Status is Suspended",
        "Expected Enabled",
        "Versions are lost.",
        "Set it to Enabled",
        "a/t.yaml:12",
        "cannot be told before deployment",
        "Acknowledged until 2030-01-31",
        "CloudTrail does",
        "acks.yaml:3",
        "nested stack N: its template is not at hand",
        "hyperpod-review 1.2.3",
    ):
        assert words in page.text, words


def test_findings_say_what_filters_need(page):
    said = [
        {name: element.attributes[f"data-{name}"] for name in ("severity", "outcome", "state", "group")}
        for element in page.with_class("finding")
    ]
    assert {"severity": "error", "outcome": "broken", "state": "open", "group": "storage"} in said
    assert {"severity": "warning", "outcome": "broken", "state": "open", "group": "resilience"} in said
    assert {"severity": "error", "outcome": "undetermined", "state": "open", "group": "network"} in said
    assert {"severity": "error", "outcome": "broken", "state": "acknowledged", "group": "storage"} in said
    assert {"severity": "advice", "outcome": "broken", "state": "open", "group": "other"} in said
    offered = {
        (element.attributes["name"], element.attributes["value"])
        for element in page.named("input")
        if element.attributes["type"] == "checkbox"
    }
    assert {(name, one[name]) for one in said for name in one} == offered


def test_a_fix_of_one_finding_stands_with_it(finding):
    page = Page(page_of(Report((finding(), finding(logical_id="B", fix="remove the rule")))))
    assert page.text.count("Set it to Enabled") == 1
    assert page.text.count("Remove the rule") == 1
    assert [element.name for element in page.with_class("explanation")] == ["dl"]


def test_a_condition_is_told(finding):
    assert "When Stage is prod" in Page(page_of(Report((finding(when="Stage is prod"),)))).text


def test_kept_promises_are_collapsed_with_who_keeps_them(page):
    (item,) = [
        element
        for element in page.named("li")
        if "details" in element.around and "ul" in element.around and element.attributes.get("data-severity")
    ]
    assert item.attributes["data-group"] == "storage"
    assert (
        "open"
        not in next(e for e in page.named("details") if e.attributes.get("id") == "kept-box").attributes
    )


def test_without_findings_there_is_nothing_to_filter(finding):
    page = Page(page_of(Report((finding(outcome="pass"),))))
    assert "Every promise is kept" in page.text
    assert not page.named("form")
    assert "No findings" in page.text


def test_where_nothing_was_judged_it_says_so():
    text = Page(page_of(Report(()))).text
    assert "Nothing was judged" in text
    assert "Every promise is kept" not in text


def test_templates_are_listed_with_their_nested_stacks(template, report):
    nested = Document({"Resources": {"A": {"Type": "AWS::SNS::Topic"}}}, file="n.json")
    outer = Document(
        template, file="t.json", region="us-west-2", account="123456789012", nested={"N": nested}
    )
    text = Page(page_of(report, outer)).text
    assert f"t.json {len(template['Resources'])} resources, 123456789012 us-west-2" in text
    assert "n.json nested stack, 1 resource" in text


def test_the_page_loads_nothing_and_says_so(template):
    del template["Resources"]["Checkpoints"]["Properties"]["VersioningConfiguration"]
    text = reviewed(template)
    page = Page(text)
    (policy,) = [
        element.attributes["content"]
        for element in page.named("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy
    (script,) = page.contents("script")
    assert rules["script-src"] == policy_hash(script)
    styles = page.contents("style")
    assert {policy_hash(style) for style in styles} == set(rules["style-src"].split())
    assert len(styles) == 2  # the page's and the trust map's
    loading = {"src", "srcset", "poster", "data", "action", "formaction", "background", "ping", "xlink:href"}
    for element in page.elements:
        assert not loading & element.attributes.keys(), element
        assert "style" not in element.attributes, element
        assert not [name for name in element.attributes if name.startswith("on")], element
        if element.name == "link":
            assert element.attributes["href"].startswith("data:")
    assert "@import" not in text
    assert "url(" not in text


def test_links_lead_into_the_page_or_to_documentation(template):
    del template["Resources"]["Checkpoints"]["Properties"]["VersioningConfiguration"]
    page = Page(reviewed(template))
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in page.named("a"):
        address = element.attributes["href"]
        if address.startswith("#"):
            assert address[1:] in ids
        else:
            assert address.startswith("https://docs.aws.amazon.com/")
            assert element.attributes["rel"] == "noopener noreferrer"
    for element in page.elements:
        for name in ("aria-labelledby", "for"):
            assert set(element.attributes.get(name, "").split()) <= set(ids), element


def test_headings_go_down_one_level_at_a_time(template):
    del template["Resources"]["Checkpoints"]["Properties"]["VersioningConfiguration"]
    levels = [int(e.name[1]) for e in Page(reviewed(template)).elements if re.fullmatch("h[1-6]", e.name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def hostile_template(template):
    """The template with every name of ours made hostile."""
    text = json.dumps(template)
    for name in (
        "NodeGroup",
        "Subnet",
        "Vpc",
        "Cluster",
        "Checkpoints",
        "NodeRole",
        "FileSystem",
        "LustreGroup",
    ):
        text = text.replace(f'"{name}"', json.dumps(name + XSS))
    found = json.loads(text)
    resources = found["Resources"]
    properties = resources["Cluster" + XSS]["Properties"]
    for group in properties["InstanceGroups"]:
        group["InstanceGroupName"] += XSS
        group["InstanceType"] += XSS
    resources["Subnet" + XSS]["Properties"]["AvailabilityZoneId"] = XSS
    resources["Subnet" + XSS]["Properties"]["CidrBlock"] = XSS
    resources["SelfIngress"]["Properties"] |= {"IpProtocol": XSS}
    resources["HttpsEgress"]["Properties"] |= {"CidrIp": XSS}
    resources["Open"] = {
        "Type": "AWS::EC2::SecurityGroupIngress",
        "Properties": {"GroupId": {"Ref": "NodeGroup" + XSS}, "IpProtocol": "tcp", "CidrIp": XSS},
    }
    return found


def test_no_template_injects_markup(template, finding):
    document = Document(hostile_template(template), file=XSS, region=XSS, account=XSS)
    report = review(document)
    assert report.findings
    more = finding(
        logical_id=XSS,
        resource_type=XSS,
        path=(XSS,),
        found=XSS,
        allowed=XSS,
        fix=XSS,
        file=XSS,
        when=XSS,
        acknowledged=Acknowledged(XSS, XSS, expires=date(2030, 1, 31)),
    )
    plain = finding(rule_id=XSS, title=XSS, why=XSS, source=XSS, logical_id=XSS)
    report = Report((*report.verdicts, more, plain), (XSS,))
    page = Page(page_of(report, document, limits=(XSS,)))
    assert not page.named("img")
    assert len(page.contents("script")) == 1
    assert len(page.named("style")) == 2
    assert XSS in page.text
    for element in page.elements:
        assert not [name for name in element.attributes if name.startswith("on") or name == "src"], element


@pytest.mark.parametrize("character", ["\x1b", "\x00", "\u202e", "\u200b", "\ud800"], ids=ascii)
def test_no_character_hides_or_breaks_the_page(character, template, finding):
    name = f"NodeGroup{character}x"
    renamed = json.loads(json.dumps(template).replace('"NodeGroup"', json.dumps(name)))
    document = Document(renamed, file=name)
    text = page_of(Report((finding(found=name, logical_id=name, file=name),)), document)
    assert character not in text
    text.encode("utf-8")
    assert "NodeGroup" in text


def test_the_same_report_gives_the_same_page(template):
    assert reviewed(template) == reviewed(template)


def test_a_page_is_small_and_quick(template):
    del template["Resources"]["Checkpoints"]["Properties"]["VersioningConfiguration"]
    document = Document(template, file="t.json")
    report, found = review(document), trust_map(document)
    sources = Sources(documents=(document,))
    subject = Subject(templates=1, manifests=0, rules=59)

    def render():
        return html.render(report, sources, found, subject=subject, groups=group_names(), version="1")

    size = len(render().encode())
    assert size < 300_000
    took = []
    for _ in range(3):
        start = time.process_time()
        render()
        took.append(time.process_time() - start)
    assert min(took) < 0.15


def test_more_networks_than_a_page_draws_are_counted(template):
    documents = tuple(
        Document(
            json.loads(json.dumps(template).replace('"llm-train"', f'"c{number}"')), file=f"{number}.json"
        )
        for number in range(14)
    )
    page = Page(page_of(Report(()), *documents))
    assert "2 further networks not drawn" in page.text
    assert (
        len([e for e in page.named("svg") if "-plan-title" in e.attributes.get("aria-labelledby", "")]) == 12
    )


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        (["out/a.json", "out/b.json"], ["a.json", "b.json"]),
        (["slurm/a.json", "eks/a.json"], ["slurm/a.json", "eks/a.json"]),
        (["a.json", "eks/a.json"], ["a.json", "eks/a.json"]),
        (["x/one/a.json", "x/two/a.json", "x/two/b.json"], ["one/a.json", "two/a.json", "b.json"]),
    ],
)
def test_networks_of_templates_with_one_name_are_told_apart(template, files, shown):
    documents = tuple(
        Document(json.loads(json.dumps(template).replace('"llm-train"', f'"c{number}"')), file=file)
        for number, file in enumerate(files)
    )
    text = page_of(Report(()), *documents)
    assert re.findall(r"<code>([^<]*)</code>: where the cluster stands", text) == shown


def test_more_findings_than_a_page_lists_are_counted(finding):
    found = [finding(logical_id=f"B{number}") for number in range(1999)]
    found += [
        finding(rule_id="NodeRecovery", severity="warning", logical_id=f"C{number}") for number in range(3)
    ]
    found += [finding(outcome="pass", logical_id=f"K{number}") for number in range(203)]
    page = Page(page_of(Report(tuple(found))))
    assert len(page.with_class("finding")) == 2000
    assert "Only the 2000 most urgent findings are listed, 2 are not" in page.text
    assert "1999 errors" in page.text
    assert "3 warnings" in page.text
    assert "K199 and 3 more" in page.text


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("nodes are private", "Nodes are private"),
        ("add-ons come in order", "Add-ons come in order"),
        ("checkpoints, scripts and files", "Checkpoints, scripts and files"),
        ("s3:PutObject is denied", "s3:PutObject is denied"),
        ("enforce_ssl is on", "enforce_ssl is on"),
        ("EFA works", "EFA works"),
    ],
)
def test_a_promise_begins_with_a_capital_unless_with_a_name(title, shown, finding):
    assert shown in Page(page_of(Report((finding(title=title),)))).text
