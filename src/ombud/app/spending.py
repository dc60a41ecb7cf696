"""What only the calls of models know of an answer: what all of them came to, and which model stood
in for which."""

from collections.abc import Sequence

from ombud.models import Call, stand_ins
from ombud.types import Trace


def with_calls(trace: Trace, calls: Sequence[Call]) -> Trace:
    """Tokens and price also of calls that failed, or whose reply was not taken: they are paid for
    like all others."""
    tokens_in = 0
    tokens_out = 0
    price: float | None = 0
    for call in calls:
        tokens_in += call.tokens_in
        tokens_out += call.tokens_out
        # One price that is not known leaves the sum unknown.
        price = None if price is None or call.price is None else price + call.price
    return trace.model_copy(
        update={
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "price": price,
            "degraded": (*trace.degraded, *stand_ins(calls)),
        }
    )
