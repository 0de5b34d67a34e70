"""The drawing: well-formed, without what a page could not show, and placed without overlap."""

from __future__ import annotations

import itertools

import pytest
from drawn_boxes import cards_in, overlapping, passing_edges, too_long_texts

from hyperpod_policy.trust_map import svg, trust_map
from hyperpod_policy.trust_map.layout import GAP, Edge, placed


def test_a_drawing_needs_nothing_else(eks_template):
    drawing = svg(trust_map(eks_template))
    assert drawing.startswith("<svg ")
    for outside in ("href", "url(", "@import", "<script", "<image"):
        assert outside not in drawing


def test_every_step_but_a_refused_one_is_drawn(template):
    found = trust_map(template)
    drawing = svg(found)
    for step in found.steps:
        drawn = f'data-source="{step.source}" data-target="{step.target}"' in drawing
        assert drawn == any(
            other.certainty != "no"
            for other in found.steps
            if other.source == step.source and other.target == step.target
        )
    assert drawing.count("closed to others: writing") == 2


def test_names_are_text_not_markup(template):
    template["Resources"]["NodeRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"].append(
        {"Effect": "Allow", "Principal": {"AWS": '<b a="1">&'}, "Action": "sts:AssumeRole"}
    )
    drawing = svg(trust_map(template))
    assert "<b a" not in drawing
    assert '<b a="1">&' in {card.node for card in cards_in(drawing)}


def test_boxes_of_a_column_keep_apart_and_edges_lead_right():
    heights = {name: 20.0 + 10 * position for position, name in enumerate("abcdef")}
    edges = [
        Edge(*ends, 5.0, 5.0)
        for ends in (("a", "c"), ("b", "c"), ("c", "f"), ("a", "f"), ("d", "f"), ("e", "c"), ("f", "a"))
    ]
    layout = placed(heights, edges, end="f")
    for column in layout.columns:
        boxes = [layout.boxes[name] for name in column]
        for above, below in itertools.pairwise(boxes):
            assert below.y >= above.y + above.height + GAP - 1e-6
    for edge in edges[:-1]:  # the last closes a cycle
        assert layout.boxes[edge.source].column > layout.boxes[edge.target].column
    assert len(edges[3].through) == 1
    assert layout.columns[0] == ["f"]


def _card(name, x, y, text="x"):
    return (
        f'<g data-node="{name}" transform="translate({x} {y})"><rect width="50" height="30"/>'
        f'<text y="20">{text}</text></g>'
    )


@pytest.mark.parametrize(
    ("inner", "check", "seen"),
    [
        (_card("a", 0, 0) + _card("b", 40, 20), overlapping, [("a", "b")]),
        (_card("a", 0, 0) + _card("b", 60, 20), overlapping, []),
        (_card("a", 0, 0, "far too long"), too_long_texts, ["far too long"]),
        (
            _card("a", 0, 0)
            + '<g data-source="x" data-target="y"><path d="M-10 10C-5 10 -5 10 -5 10H60"/></g>',
            passing_edges,
            [("x to y", "a")],
        ),
    ],
)
def test_the_checks_of_drawings_see_what_is_wrong(inner, check, seen):
    assert check(f'<svg xmlns="http://www.w3.org/2000/svg">{inner}</svg>') == seen
