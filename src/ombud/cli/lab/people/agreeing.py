"""The verbs of `ombud lab` about people: how far they agree, and a judge with them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, open_workspace, print_json
from ombud.cli.lab.people.thumbs import say_feedback

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ombud.lab import Agreement, Estimate, JudgeAlignment, PoweredMean, Rating, RatingSet

CRITERION = typer.Option("", "--criterion", help="One criterion only.")
SHOWN = 5
MEASURES = ("percentage", "cohen", "cohen_weighted", "fleiss", "alpha")


def agree(
    ratings: Path = typer.Argument(help="CSV or JSON lines: item, rater, criterion, value."),
    criterion: str = CRITERION,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """How far people agree on each criterion: percentage, kappas and alpha, with intervals."""
    del home
    with errors_said(as_json):
        from ombud.lab import agreement, read_ratings

        read = read_ratings(ratings)
        found = agreement(_of(read.ratings, criterion))
        if as_json:
            criteria = list(map(_agreement_json, found))
            print_json({"missing": read.missing, "criteria": criteria})
            return
        _say_agreement(found, read.missing)


def align(
    labels: Path | None = typer.Option(
        None, "--labels", help="What people said: as for `agree`, or RAGChecker's or MTRAG's file."
    ),
    scores: Path | None = typer.Option(
        None, "--scores", help="What a judge said: item, value; of what people rated, and of more."
    ),
    metric: str = typer.Option(
        "",
        "--metric",
        help="In place of scores: token_f1, rouge_l, chrf or exact_match; or, where the labels are "
        "of `lab annotate`, any metric that its runs have.",
    ),
    feedback: bool = typer.Option(
        False, "--feedback", help="In place of labels: the thumbs that people gave to answers."
    ),
    criterion: str = CRITERION,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """How far a judge or a metric agrees with people, whether it leans to long answers, and what
    it makes of few ratings."""
    del home
    with errors_said(as_json):
        from ombud.errors import BadRequest
        from ombud.lab import align as align_ratings

        if feedback:
            say_feedback(as_json)
            return
        if labels is None:
            raise BadRequest("What did people say?", hint="--labels FILE, or --feedback.")
        read = _labels(labels)
        judged = _judged(read, scores, metric)
        ratings = _of(read.ratings, criterion)
        found = align_ratings(ratings, judged, _lengths(read))
        if read.origins and metric:
            _keep_alignments(read, metric, found)
        powered = {one.criterion: _powered(ratings, judged, one.criterion) for one in found}
        if as_json:
            rows = [_alignment_json(one, powered[one.criterion]) for one in found]
            print_json({"missing": read.missing, "criteria": rows})
            return
        for one in found:
            _say_alignment(one, powered[one.criterion])


def _labels(path: Path) -> "RatingSet":
    from ombud.lab import read_ratings

    return read_ratings(path)


def _of(ratings: "Sequence[Rating]", criterion: str) -> "Sequence[Rating]":
    from ombud.errors import BadRequest

    if not criterion:
        return ratings
    own = [rating for rating in ratings if rating.criterion == criterion]
    if not own:
        known = sorted({rating.criterion for rating in ratings})
        raise BadRequest(
            f"Nobody rated `{criterion}`.", hint=f"There are: {', '.join(filter(None, known))}."
        )
    return own


def _judged(read: "RatingSet", scores: Path | None, metric: str) -> "Mapping[str, float | None]":
    from ombud.errors import BadRequest
    from ombud.lab import read_ratings

    if (scores is None) == (not metric):
        raise BadRequest("Give --scores or --metric.")
    if scores is not None:
        return {rating.item: rating.value for rating in read_ratings(scores).ratings}
    if read.origins and not read.texts:
        return _scores_of_runs(read, metric)
    return _scores_of_texts(read, metric)


def _scores_of_texts(read: "RatingSet", metric: str) -> "Mapping[str, float | None]":
    from ombud.errors import BadRequest
    from ombud.lab import TEXT_METRICS

    if metric not in TEXT_METRICS:
        raise BadRequest(
            f"`{metric}` compares no texts.", hint=f"There are: {', '.join(TEXT_METRICS)}."
        )
    if not read.texts:
        raise BadRequest("The labels hold no answers.", hint="Give --scores.")
    compare = TEXT_METRICS[metric]
    found: dict[str, float | None] = {}
    for item, text in read.texts.items():
        values = [compare(answer, text.reference) for answer in text.answers]
        # Of two that were compared, how much better the second is.
        found[item] = values[0] if len(values) == 1 else values[-1] - values[0]
    return found


def _scores_of_runs(read: "RatingSet", metric: str) -> "Mapping[str, float | None]":
    """Of the answers that were rated, from the runs that gave them."""
    from ombud.errors import BadRequest
    from ombud.lab import read_run

    store = open_workspace().store
    by_run: dict[str, dict[str, float | None]] = {}
    for run in {run for run, _ in read.origins.values()}:
        scores = read_run(store, run).values(metric)
        if not scores:
            raise BadRequest(
                f"Run {run} has no `{metric}`.",
                hint=f"`ombud lab rescore {run} --metrics {metric}` adds it.",
            )
        by_run[run] = {case: score.value for case, score in scores.items()}
    found: dict[str, float | None] = {}
    for item, (run, case) in read.origins.items():
        found[item] = by_run[run].get(case)
    return found


def _keep_alignments(read: "RatingSet", metric: str, found: "Sequence[JudgeAlignment]") -> None:
    """For the gate: how far who gave this metric in these runs agrees with people. Of several
    criteria the one that the metric is named after counts."""
    from ombud.lab import read_run
    from ombud.store import KeptAlignment, keep_alignment

    own = metric.rpartition(".")[2]
    named = [one for one in found if one.criterion in (metric, own)]
    store = open_workspace().store
    givers: set[tuple[str, int]] = set()
    for run in {run for run, _ in read.origins.values()}:
        givers |= read_run(store, run).versions.get(metric, frozenset())
    for one in named or (found if len(found) == 1 else []):
        for judge, version in givers:
            if judge:
                kept = KeptAlignment(
                    metric=metric,
                    judge=judge,
                    version=version,
                    criterion=one.criterion,
                    items=one.items,
                    spearman=one.correlation.spearman.value,
                )
                keep_alignment(store, kept)


def _lengths(read: "RatingSet") -> dict[str, dict[str, float]]:
    lengths: dict[str, float] = {}
    for item, text in read.texts.items():
        words = [len(answer.split()) for answer in text.answers]
        lengths[item] = float(words[0] if len(words) == 1 else words[-1] - words[0])
    return {"length": lengths} if lengths else {}


def _powered(
    ratings: "Sequence[Rating]", judged: "Mapping[str, float | None]", criterion: str
) -> "PoweredMean | None":
    """From the items that people rated, and those that only the judge did."""
    from ombud.lab import powered_mean

    said: dict[str, list[float]] = {}
    for rating in ratings:
        if rating.criterion == criterion:
            said.setdefault(rating.item, []).append(rating.value)
    labels: list[float] = []
    own: list[float] = []
    others: list[float] = []
    for item, score in judged.items():
        if score is None:
            continue
        if item in said:
            labels.append(sum(said[item]) / len(said[item]))
            own.append(score)
        else:
            others.append(score)
    return powered_mean(labels, own, others)


# Printing -----------------------------------------------------------------------------------------


def _estimate_json(found: "Estimate") -> dict[str, Any]:
    return found._asdict()


def _agreement_json(found: "Agreement") -> dict[str, Any]:
    own = {name: _estimate_json(getattr(found, name)) for name in MEASURES}
    counts = {name: getattr(found, name) for name in ("items", "alone", "raters", "ratings")}
    concerns = [{"item": one.item, "ratings": dict(one.ratings)} for one in found.concerns]
    return {"criterion": found.criterion, **counts, **own, "concerns": concerns}


def _alignment_json(found: "JudgeAlignment", powered: "PoweredMean | None") -> dict[str, Any]:
    classes = found.classes
    return {
        "criterion": found.criterion,
        "items": found.items,
        "points": found.points,
        "unscored": found.unscored,
        "pearson": _estimate_json(found.correlation.pearson),
        "spearman": _estimate_json(found.correlation.spearman),
        "p": found.correlation.p,
        "people": found.people
        and {
            "pearson": _estimate_json(found.people.pearson),
            "spearman": _estimate_json(found.people.spearman),
        },
        "classes": classes
        and {
            "agreement": _estimate_json(classes.agreement),
            "precision": classes.precision,
            "recall": classes.recall,
            "f1": classes.f1,
            "kappa": _estimate_json(classes.kappa),
            "kappa_weighted": _estimate_json(classes.kappa_weighted),
        },
        "by_type": {kind: _estimate_json(own) for kind, own in found.by_kind.items()},
        "probes": {probe.name: _estimate_json(probe.spearman) for probe in found.probes},
        "powered": powered and powered._asdict(),
    }


def _shown(found: "Estimate") -> str:
    from ombud.cli.printing.tables import between, figure

    return f"{figure(found.value)} {between(found.low, found.high)}".strip()


def _say_agreement(found: "Sequence[Agreement]", missing: int) -> None:
    from ombud.cli.printing.tables import table

    head = ("criterion", "items", "raters", "equal", "Cohen", "weighted", "Fleiss", "alpha")
    print(table(head, list(map(_agreement_row, found))))
    for one in found:
        _say_concerns(one)
    if missing:
        print(f"{missing} lines have no value.")


def _agreement_row(found: "Agreement") -> list[str]:
    measures = [_shown(getattr(found, name)) for name in MEASURES]
    return [found.criterion or "-", str(found.items), str(found.raters), *measures]


def _say_concerns(found: "Agreement") -> None:
    name = found.criterion or "-"
    if found.alone:
        print(f"{name}: {found.alone} items have one rating and say nothing.")
    for concern in found.concerns[:SHOWN]:
        said = ", ".join(f"{rater} {value:g}" for rater, value in concern.ratings.items())
        print(f"{name}: they differ on {concern.item}: {said}")


def _say_alignment(found: "JudgeAlignment", powered: "PoweredMean | None") -> None:
    from ombud.cli.printing.tables import chance, table

    print(f"{found.criterion or 'All'}: {found.items} items, {found.points} ratings")
    rows = [("Pearson", _shown(found.correlation.pearson))]
    p = f", p {chance(found.correlation.p)}" if found.correlation.p is not None else ""
    rows.append(("Spearman", _shown(found.correlation.spearman) + p))
    if found.people:
        rows.append(("people with each other, Pearson", _shown(found.people.pearson)))
        rows.append(("people with each other, Spearman", _shown(found.people.spearman)))
    if found.classes:
        own = found.classes
        rows.append(("equal", _shown(own.agreement)))
        macro = f"{own.precision:.3f} / {own.recall:.3f} / {own.f1:.3f}"
        rows.append(("precision / recall / F1, macro", macro))
        rows.append(("kappa", _shown(own.kappa)))
        rows.append(("kappa, weighted", _shown(own.kappa_weighted)))
    rows += [(f"leans to {probe.name}", _shown(probe.spearman)) for probe in found.probes]
    rows += [(f"Spearman of {kind}", _shown(own)) for kind, own in found.by_kind.items()]
    if powered:
        rows.append(
            (
                "mean of all, by people and judge",
                f"{powered.value:.3f} [{powered.low:.3f}, {powered.high:.3f}]",
            )
        )
        rows.append(
            (
                "mean of all, by people alone",
                f"[{powered.people_low:.3f}, {powered.people_high:.3f}]",
            )
        )
    print(table(("", ""), rows))
    if found.unscored:
        print(f"{found.unscored} items that people rated have no score.")
