"""What a question costs, by the way its answer came about."""

from ombud.lab import costs_by_path
from ombud.types import Trace


def test_each_way_has_its_line_and_all_have_one() -> None:
    traces = [
        Trace(path="composed", calls=2, tokens_in=2000, tokens_cached=500, tokens_out=100, price=1),
        Trace(path="composed", calls=2, tokens_in=3000, tokens_cached=700, tokens_out=300, price=2),
        Trace(path="repaired", calls=3, tokens_in=4000, tokens_out=400, price=3),
        Trace(path="handed over", price=0),
    ]
    lines = {line.path: line for line in costs_by_path(traces)}
    assert list(lines) == ["composed", "repaired", "handed over", "all"]
    composed = lines["composed"]
    assert (composed.questions, composed.calls, composed.price) == (2, 2.0, 1.5)
    assert (composed.tokens_in, composed.tokens_cached, composed.tokens_out) == (2500, 600, 200)
    assert lines["all"].questions == 4
    assert lines["all"].price == 1.5


def test_one_price_that_is_not_known_leaves_the_mean_unknown() -> None:
    traces = [Trace(path="composed", calls=1, price=None), Trace(path="composed", calls=1, price=1)]
    (line,) = costs_by_path(traces)
    assert line.price is None


def test_where_no_model_was_asked_there_is_nothing_to_say() -> None:
    assert costs_by_path([Trace(path="no model", price=0)]) == []
    assert costs_by_path([]) == []


def test_runs_of_before_are_told_apart() -> None:
    (line,) = costs_by_path([Trace(tokens_in=9, price=1)])
    assert line.path == "not recorded"
