"""What the lab can see of an assistant: this, and nothing else of the product."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ombud.types import Answer, Chunk, Hit, Question, Trace


class Target(Protocol):
    """An assistant under measurement. `ask` and `search` may be awaited several at a time.

    A failure of one question is an OmbudError; `Unreachable` says that all others would fail.
    """

    name: str
    """`local`, or the address."""

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        """plan: the fields to set for this answer."""
        ...

    async def search(
        self, question: Question, plan: Mapping[str, Any]
    ) -> tuple[tuple[Hit, ...], Trace]: ...

    def describe(self) -> dict[str, Any]:
        """config_digest, plan, prompts, models, index_version."""
        ...

    def passages(self) -> Iterator[Chunk]:
        """Yield every indexed passage."""
        ...

    def text_of(self, document_id: str, version: str) -> str | None:
        """Return the text that citations of this document version refer to; None if it is not
        available."""
        ...

    def variant(self, settings: Mapping[str, Any]) -> "Target":
        """Return the same assistant over an index made with other settings, such as
        {"index.chunk_tokens": 128}.

        Raises LabError where that cannot be done.
        """
        ...
