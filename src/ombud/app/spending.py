"""What only the calls of models know of an answer: what all of them came to, and which model stood
in for which."""

from collections.abc import Sequence

from ombud.models import Call, stand_ins
from ombud.types import Trace


def with_calls(trace: Trace, calls: Sequence[Call]) -> Trace:
    """Tokens and price also of calls that failed, or whose reply was not taken: they are paid for
    like all others."""
    prices = [call.price for call in calls]
    return trace.model_copy(
        update={
            "tokens_in": sum(call.tokens_in for call in calls),
            "tokens_out": sum(call.tokens_out for call in calls),
            "price": None
            if None in prices
            else sum(price for price in prices if price is not None),
            "degraded": (*trace.degraded, *stand_ins(calls)),
        }
    )
