"""The verbs of `ombud lab` about people: how far they agree, and a judge with them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json

if TYPE_CHECKING:
    from ombud.lab import Agreement, JudgeAlignment, RatingSet

CRITERION = typer.Option("", "--criterion", help="One criterion only.")
SHOWN = 5
Scores = Mapping[str, float | None]


def agree(
    ratings: list[Path] = typer.Argument(
        help="Sheets of `lab annotate`, or CSV or JSON lines: item, rater, criterion, value."
    ),
    criterion: str = CRITERION,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Measure how far people agree on each criterion: percentage, kappas and alpha, with
    intervals."""
    del home
    with errors_said(as_json):
        from ombud.lab import agreement, read_ratings

        read = _only(read_ratings(ratings).checked(), criterion)
        agreements = agreement(read.ratings)
        if as_json:
            print_json({"missing": len(read.missing), "criteria": list(map(asdict, agreements))})
        else:
            _say_agreement(agreements, len(read.missing))


def align(
    labels: list[Path] = typer.Option(
        ..., "--labels", help="What people said, as for `agree`; may be repeated."
    ),
    scores: Path | None = typer.Option(
        None, "--scores", help="What a judge said: item, value; of what people rated, and of more."
    ),
    metric: str = typer.Option(
        "",
        "--metric",
        help="In place of scores: any metric that the runs have of which `lab annotate` drew the "
        "answers; or, where the labels hold answers and references, token_f1, rouge_l, chrf or "
        "exact_match.",
    ),
    criterion: str = CRITERION,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Measure how far a judge or a metric agrees with people and favours long answers, and estimate
    people's mean from few ratings."""
    del home
    with errors_said(as_json):
        from ombud.lab import align as align_ratings
        from ombud.lab import read_ratings

        read = _only(read_ratings(labels).checked(), criterion)
        judged = _judged(read, scores, metric)
        alignments = align_ratings(read.ratings, judged, _lengths(read))
        if read.origins and metric:
            _keep_alignments(read, metric, alignments)
        if as_json:
            print_json({"missing": len(read.missing), "criteria": list(map(asdict, alignments))})
            return
        for one in alignments:
            _say_alignment(one)


def _only(read: "RatingSet", criterion: str) -> "RatingSet":
    """Return the ratings in one criterion; all if none is named."""
    from ombud.errors import BadRequest

    if not criterion:
        return read
    own = tuple(rating for rating in read.ratings if rating.criterion == criterion)
    if not own:
        criteria = sorted({rating.criterion for rating in read.ratings})
        raise BadRequest(
            f"Nobody rated `{criterion}`.", hint=f"There are: {', '.join(filter(None, criteria))}."
        )
    return read._replace(ratings=own)


def _judged(read: "RatingSet", scores: Path | None, metric: str) -> Scores:
    from ombud.errors import BadRequest
    from ombud.lab import read_ratings

    if (scores is None) == (not metric):
        raise BadRequest("Give --scores or --metric.")
    if scores is not None:
        judged = read_ratings([scores], items={}).checked()
        return {rating.item: rating.value for rating in judged.ratings}
    return _scores_of_runs(read, metric) if read.origins else _scores_of_texts(read, metric)


def _scores_of_texts(read: "RatingSet", metric: str) -> Scores:
    """Score the answers in the file against their references."""
    from ombud.errors import BadRequest
    from ombud.lab import TEXT_METRICS

    if metric not in TEXT_METRICS:
        raise BadRequest(
            f"`{metric}` compares no texts.", hint=f"There are: {', '.join(TEXT_METRICS)}."
        )
    compare = TEXT_METRICS[metric]
    by_item: dict[str, float | None] = {}
    for item, cells in read.cells.items():
        if cells.get("answer") and cells.get("reference"):
            by_item[item] = compare(cells["answer"], cells["reference"])
    if not by_item:
        raise BadRequest("The labels hold no answers.", hint="Give --scores.")
    return by_item


def _scores_of_runs(read: "RatingSet", metric: str) -> Scores:
    """Read the scores of the rated answers from the runs that gave them."""
    from ombud.errors import BadRequest
    from ombud.lab import read_run

    store = open_workspace().store
    by_run: dict[str, dict[str, float | None]] = {}
    for run in {run for run, _ in read.origins.values()}:
        scores = read_run(store, run).values(metric)
        if not scores:
            raise BadRequest(
                f"Run {run} has no `{metric}`.",
                hint=f"`ombud lab run --rescore {run} --metrics {metric}` adds it.",
            )
        by_run[run] = {case: score.value for case, score in scores.items()}
    by_item: dict[str, float | None] = {}
    for item, (run, case) in read.origins.items():
        by_item[item] = by_run[run].get(case)
    return by_item


def _keep_alignments(
    read: "RatingSet", metric: str, alignments: "Sequence[JudgeAlignment]"
) -> None:
    """Store, for the gate, how far the judge of this metric in these runs agrees with people. Of
    several criteria the one that the metric is named after counts."""
    from ombud.lab import read_run
    from ombud.store import StoredAlignment, save_alignment

    own = metric.rpartition(".")[2]
    named = [one for one in alignments if one.criterion in (metric, own)]
    store = open_workspace().store
    givers: set[tuple[str, int]] = set()
    for run in {run for run, _ in read.origins.values()}:
        givers |= read_run(store, run).versions.get(metric, frozenset())
    for one in named or (alignments if len(alignments) == 1 else []):
        for judge, version in givers:
            if judge:
                stored = StoredAlignment(
                    metric=metric,
                    judge=judge,
                    version=version,
                    criterion=one.criterion,
                    items=one.items,
                    spearman=one.spearman.value,
                )
                save_alignment(store, stored)


def _lengths(read: "RatingSet") -> dict[str, dict[str, float]]:
    lengths: dict[str, float] = {}
    for item, cells in read.cells.items():
        if cells.get("answer"):
            lengths[item] = float(len(cells["answer"].split()))
    return {"length": lengths} if lengths else {}


# Printing -----------------------------------------------------------------------------------------


def _say_agreement(agreements: "Sequence[Agreement]", missing: int) -> None:
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import agreement_table

    page = open_page()
    page.markdown(agreement_table(agreements))
    for one in agreements:
        name = one.criterion or "-"
        if one.alone:
            page.line(f"{name}: {one.alone} items have one rating and say nothing.")
        for concern in one.concerns[:SHOWN]:
            values = ", ".join(f"{rater} {value:g}" for rater, value in concern.ratings.items())
            page.line(f"{name}: they differ on {concern.item}: {values}")
    if missing:
        page.line(f"{missing} lines have no value.")


def _say_alignment(alignment: "JudgeAlignment") -> None:
    from ombud.cli.printing.terminal import open_page
    from ombud.lab import alignment_table

    page = open_page()
    page.line(
        f"{alignment.criterion or 'All'}: {alignment.items} items, {alignment.points} ratings"
    )
    page.markdown(alignment_table(alignment))
    if alignment.unscored:
        page.line(f"{alignment.unscored} items that people rated have no score.")
