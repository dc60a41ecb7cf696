"""What an answer's calls reveal: their total cost, which model stood in for which, and the path of
the answer."""

from collections.abc import Sequence

from ombud.models import Call, stand_ins
from ombud.types import Action, AnswerPath, Trace


def with_calls(trace: Trace, calls: Sequence[Call], path: AnswerPath = "") -> Trace:
    """Add tokens and price of all calls, including failed and unused ones, which are paid for as
    well."""
    price: float | None = 0
    for call in calls:
        # One unknown price makes the sum unknown.
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
    """Return the path by which an answer came about. is_written: it contains a chat model's text,
    or its verdict that the documents do not answer."""
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
    # The stream broke off after some claims were shown.
    return "composed"
