"""The file in which whoever reviews a template writes down which findings are accepted, and why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from hyperpod_model.faults import Fault, FaultPath, InvalidInputError, refuse
from hyperpod_policy.acknowledgements import Acknowledgement, bare_id
from hyperpod_policy.marks import Marks
from hyperpod_policy.sources.decoding import decoded
from hyperpod_policy.sources.text import decoded_text, read_bytes

DEFAULT_FILE: Final = ".hyperpod-review.yaml"
"""Read from the working directory if it is there and no other file is named."""

_TOP: Final = "acknowledgements"
_REQUIRED: Final = ("id", "resource", "reason")
_OPTIONAL: Final = ("expires", "file")


def read_acknowledgements(path: Path) -> tuple[Acknowledgement, ...]:
    """Read a file of acknowledgements.

    Args:
        path: YAML or JSON, a mapping whose ``acknowledgements`` is a list of mappings with ``id``,
            ``resource`` and ``reason``, and if need be ``expires`` (a date) and ``file``. An empty file
            acknowledges nothing.

    Raises:
        UnusableInputError: If it cannot be read.
        InvalidInputError: With every fault in what it says, if it has any.
    """
    documents = decoded(decoded_text(read_bytes(path), file=str(path)), file=str(path))
    if not documents:
        return ()
    if len(documents) > 1:
        raise InvalidInputError([Fault((), "holds several documents; keep one list in one file")])
    reader = _Reader(path, documents[0].marks)
    found = reader.acknowledgements(documents[0].value)
    refuse(reader.faults)
    return tuple(found)


class _Reader:
    """Reads one file, and remembers what is wrong with it."""

    def __init__(self, path: Path, marks: Marks) -> None:
        self._path = path
        self._marks = marks
        self.faults: list[Fault] = []

    def acknowledgements(self, root: Any) -> list[Acknowledgement]:
        if not self._is_mapping(root, (), (_TOP,)):
            return []
        items = root.get(_TOP)
        if items is None:
            if _TOP not in root:
                self._fault((), f"has no '{_TOP}'; write '{_TOP}:' and below it a list")
            return []
        if not isinstance(items, list):
            self._fault((_TOP,), "is no list; begin each acknowledgement with '- id:'")
            return []
        found = [self._one(item, number) for number, item in enumerate(items)]
        acknowledgements = [one for one in found if one is not None]
        self._refuse_repeated(acknowledgements)
        return acknowledgements

    def _one(self, item: Any, number: int) -> Acknowledgement | None:
        where: FaultPath = (_TOP, number)
        before = len(self.faults)
        if not self._is_mapping(item, where, (*_REQUIRED, *_OPTIONAL)):
            return None
        for name in _REQUIRED:
            if name not in item:
                self._fault(where, f"has no '{name}'; each needs {', '.join(_REQUIRED)}")
        texts = {
            name: self._text(item[name], (*where, name)) for name in (*_REQUIRED, *_OPTIONAL) if name in item
        }
        expires = self._date(texts["expires"], (*where, "expires")) if "expires" in texts else None
        if len(self.faults) > before:
            return None
        return Acknowledgement(
            rule_id=bare_id(texts["id"]),
            resource=texts["resource"],
            reason=texts["reason"],
            by=str(self._path),
            line=self._marks.line(where),
            number=number,
            file=texts.get("file"),
            expires=expires,
        )

    def _is_mapping(self, value: Any, where: FaultPath, allowed: tuple[str, ...]) -> bool:
        fields = ", ".join(allowed)
        if not isinstance(value, Mapping):
            self._fault(where, f"is no mapping; its fields are {fields}")
            return False
        for name in value:
            if name not in allowed:
                self._fault((*where, name), f"is no field; fields are {fields}")
        return True

    def _text(self, value: Any, where: FaultPath) -> str:
        if not isinstance(value, str):
            self._fault(where, f"must be text, got {value!r}; put it in quotes")
            return ""
        text = " ".join(value.split())
        if not text:
            message = "needs a reason that a reviewer can judge" if where[-1] == "reason" else "is empty"
            self._fault(where, message)
        return text

    def _date(self, text: str, where: FaultPath) -> date | None:
        try:
            return date.fromisoformat(text)
        except ValueError:
            if text:
                self._fault(where, f"must be a date such as 2027-01-31, got {text!r}")
            return None

    def _refuse_repeated(self, found: list[Acknowledgement]) -> None:
        first: dict[tuple[str, str, str | None], Acknowledgement] = {}
        for one in found:
            other = first.setdefault((one.rule_id, one.resource, one.file), one)
            if other is not one and one.number is not None:
                message = f"accepts {one.rule_id} on {one.resource} again, first on line {other.line}"
                self._fault((_TOP, one.number), f"{message}; keep one reason")

    def _fault(self, where: FaultPath, message: str) -> None:
        self.faults.append(Fault(where, message, line=self._marks.line(where)))
