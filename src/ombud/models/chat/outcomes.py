"""What came of a request to a chat model: a value or why there is none, and what it cost."""

from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel

from ombud.errors import ModelError

T = TypeVar("T", bound=BaseModel)


class Usage(NamedTuple):
    tokens_in: int = 0
    tokens_out: int = 0
    price: float | None = 0.0
    """US dollars; None where it is not known."""
    tokens_cached: int = 0
    """Of `tokens_in`, those that the provider had read before."""

    def plus(self, other: "Usage") -> "Usage":
        price = None if self.price is None or other.price is None else self.price + other.price
        return Usage(
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            price=price,
            tokens_cached=self.tokens_cached + other.tokens_cached,
        )


class ModelOutput(NamedTuple, Generic[T]):
    value: T
    usage: Usage = Usage()


class ModelFailure(NamedTuple):
    error: ModelError
    reason: str
    """A few words for traces and logs; never what a server sent, for that may repeat the prompt."""
    usage: Usage = Usage()
    again: bool = False
    """The same may work soon."""
    after: float | None = None
    """Seconds that the server asks to be left alone."""
    down: bool = False
    """The model is at fault, not what it was asked."""
