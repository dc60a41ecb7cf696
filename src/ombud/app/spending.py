"""What only the calls of models know of an answer: what all of them came to, which model stood in
for which, and by which path it came about."""

from collections.abc import Sequence

from ombud.models import Call, stand_ins
from ombud.types import Action, AnswerPath, Trace


def with_calls(trace: Trace, calls: Sequence[Call], path: AnswerPath = "") -> Trace:
    """Tokens and price also of calls that failed, or whose reply was not taken: they are paid for
    like all others."""
    price: float | None = 0
    for call in calls:
        # One price that is not known leaves the sum unknown.
        price = None if price is None or call.price is None else price + call.price
    return trace.model_copy(
        update={
            "tokens_in": sum(call.tokens_in for call in calls),
            "tokens_out": sum(call.tokens_out for call in calls),
            "tokens_cached": sum(call.tokens_cached for call in calls),
            "calls": sum(call.attempts for call in calls),
            "price": price,
            "path": path,
            "degraded": (*trace.degraded, *stand_ins(calls)),
        }
    )


def path_of(calls: Sequence[Call], action: Action, *, is_written: bool) -> AnswerPath:
    """By which path an answer came about. is_written: a chat model's words stand in it, or its
    verdict that the documents do not answer."""
    composing = [call for call in calls if call.role == "compose"]
    if action == "handoff":
        return "handed over"
    if not calls:
        return "no model"
    if not composing:
        return "not composed"
    if not is_written:
        return "quotes after failure"
    for place, call in enumerate(composing):
        if not call.failed:
            return "repaired" if composing[place + 1 :] else "composed"
    # The stream broke off: what was proven until then was shown.
    return "composed"
