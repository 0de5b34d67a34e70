"""AWS's client of the memory tier, which reads no more of an answer than it can need.

The tier's ports ask nobody who they are, so whoever answers may answer without end. What is read is not yet
verified, and must not fill the memory of the node meanwhile. Nor may it come compressed: little would become
much only here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from hyperpod_lifecycle.training.checkpoint_errors import RefusedCheckpointError

LARGEST_OTHER_ANSWER_BYTES: Final = 1024 * 1024
"""Of lists of steps, settings of a namespace, and errors."""

_at_most: ContextVar[int] = ContextVar("_at_most", default=LARGEST_OTHER_ANSWER_BYTES)


@contextmanager
def answers_of_at_most(size: int) -> Iterator[None]:
    """Let answers of this thread be as large.

    Args:
        size: Bytes.
    """
    before = _at_most.set(size)
    try:
        yield
    finally:
        _at_most.reset(before)


def bounded_memory_client(owner: Any, *, memory_url: str | None) -> Any:
    """Return a client that raises :class:`RefusedCheckpointError` on an answer that is larger than it may be.

    Args:
        owner: AWS's writer or reader, whose namespace, rank and logger the client has.
        memory_url: Where the tier is. None: AWS's name within the cluster.
    """
    from amzn_sagemaker_checkpointing.config.in_memory_client import InMemoryClientConfig
    from amzn_sagemaker_checkpointing.storage.clients.inmemory.inmemory_client import (
        InMemoryCheckpointClient,
    )
    from requests.adapters import HTTPAdapter

    class BoundedAdapter(HTTPAdapter):
        def send(self, request: Any, *arguments: Any, **options: Any) -> Any:
            answer = super().send(request, *arguments, **options)
            # Of an error, AWS's client writes the whole answer to the log.
            limit = _at_most.get() if answer.status_code == 200 else LARGEST_OTHER_ANSWER_BYTES
            answer.raw = _BoundedAnswer(answer.raw, limit)
            return answer

    class BoundedClient(InMemoryCheckpointClient):  # type: ignore[misc]
        def _initialize_session(self) -> Any:
            session = super()._initialize_session()
            session.headers["Accept-Encoding"] = "identity"
            # AWS's adapter reads an error to its end, however far that is, before it says so.
            for scheme in ("http://", "https://"):
                session.mount(scheme, BoundedAdapter())
            return session

    settings = InMemoryClientConfig() if memory_url is None else InMemoryClientConfig(base_url=memory_url)
    return BoundedClient(
        namespace=owner.checkpoint_config.namespace,
        rank=str(owner.rank),
        world_size=str(owner.checkpoint_config.world_size),
        config=settings,
        metadata_file_count=1,
        logger=owner.logger,
    )


class _BoundedAnswer:
    """Stands where ``requests`` expects an answer of ``urllib3``; raises when it is too long."""

    def __init__(self, answer: Any, at_most: int) -> None:
        self._answer = answer
        self._at_most = at_most

    def __getattr__(self, name: str) -> Any:
        return getattr(self._answer, name)

    def stream(self, amount: int, decode_content: bool | None = None) -> Iterator[bytes]:
        """Yield the bytes as they were sent."""
        del decode_content
        size = 0
        for chunk in self._answer.stream(amount, decode_content=False):
            size += len(chunk)
            if size > self._at_most:
                self._answer.close()
                raise RefusedCheckpointError(
                    "too_large",
                    f"the memory tier answered with more than {self._at_most} bytes, which is what it may be",
                )
            yield chunk
