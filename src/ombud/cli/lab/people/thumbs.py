"""`ombud lab align --feedback`: what goes with the thumbs of people."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ombud.cli.console import open_workspace, print_json

if TYPE_CHECKING:
    from ombud.lab import ThumbCorrelation


def say_feedback(as_json: bool) -> None:
    from ombud.errors import BadRequest
    from ombud.lab import read_feedback, thumb_correlations

    thumbs, measured = read_feedback(open_workspace().store)
    if not thumbs:
        raise BadRequest("Nobody has rated an answer yet.", hint="The chat page asks for it.")
    rows = thumb_correlations(thumbs, measured)
    up = sum(one.thumb > 0 for one in thumbs)
    answers = len({one.answer_id for one in thumbs})
    if as_json:
        print_json(
            {
                "thumbs": len(thumbs),
                "up": up,
                "answers": answers,
                "comments": sum(bool(one.comment) for one in thumbs),
                "metrics": [{**row._asdict(), "spearman": row.spearman._asdict()} for row in rows],
            }
        )
        return
    print(f"{len(thumbs)} thumbs on {answers} answers, {up} of them up.\n")
    _say(rows)


def _say(rows: "Sequence[ThumbCorrelation]") -> None:
    from ombud.cli.printing.tables import between, chance, figure, table

    if not rows:
        print("Too few answers are rated to say what goes with it: it takes three.")
        return
    cells: list[tuple[str, ...]] = []
    for row in rows:
        shown = row.spearman
        cells.append(
            (
                row.metric,
                str(row.answers),
                figure(shown.value, sign=True),
                between(shown.low, shown.high),
                "" if row.p is None else chance(row.p),
                "" if row.adjusted is None else chance(row.adjusted),
            )
        )
    print(table(("metric", "n", "Spearman", "95 %", "p", "p (Holm)"), cells))
    print("\nWho rates is seldom everybody: people press a thumb when they are cross or delighted.")
