"""On which line of its file each part of a document stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class Marks(ABC):
    """Lines of a document's keys and items, found when somebody asks."""

    __slots__ = ()

    @abstractmethod
    def line(self, path: Sequence[str | int]) -> int | None:
        """Return the line of a key or item, from 1, or that of the nearest one around it in the file.

        Args:
            path: From the document's root, such as ``("Resources", "Bucket", "Properties", "Tags", 0)``.
        """

    def below(self, *path: str | int) -> Marks:
        """Return the lines of a part of the document, by paths that begin at that part."""
        return _Below(self, path) if path else self


class _Below(Marks):
    __slots__ = ("_path", "_whole")

    def __init__(self, whole: Marks, path: tuple[str | int, ...]) -> None:
        self._whole = whole
        self._path = path

    def line(self, path: Sequence[str | int]) -> int | None:
        return self._whole.line((*self._path, *path))
