"""`python -m research.training.router`: train the complexity router."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, print_json, progress, write_file
from ombud.cli.process import command_process
from ombud.cli.route import model_router, workspace_settings
from ombud.errors import BadRequest, MissingExtra

if TYPE_CHECKING:
    from research.training.linear import TrainingEmbedder
    from research.training.router.comparing import RouterScores
    from research.training.router.labelled import LabelledQuestion

TRAINED = ("logistic", "svm", "minilm", "combined")
OTHERS = ("fine-tuned", "zero-shot")


def teach_router(
    file: Path | None = typer.Argument(
        None, help="Labelled questions, one JSON object a line; empty = the shipped set."
    ),
    variant: str = typer.Option("logistic", "--variant", help=f"{', '.join((*TRAINED, *OTHERS))}."),
    classes: int = typer.Option(
        3, "--classes", min=2, max=3, help="2: one passage or more; 3: one, two, or more."
    ),
    out: Path | None = typer.Option(
        None, "--out", help="Where the weights go: a file; a folder for fine-tuned."
    ),
    held: list[Path] = typer.Option(
        [], "--held-out", help="Labelled questions to judge by, never learnt from."
    ),
    report: Path | None = typer.Option(
        None, "--report", help="Train and judge every variant; write a Markdown report."
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Teach the complexity router, and say how well it tells classes apart. The same file gives the
    same weights."""
    del home
    with errors_said(as_json):
        from research.training.router.labelled import read_labelled_questions

        if variant not in (*TRAINED, *OTHERS):
            raise BadRequest(
                f"`{variant}` is not a variant.", hint=f"Known: {', '.join((*TRAINED, *OTHERS))}."
            )
        questions = read_labelled_questions(file) if file else read_labelled_questions()
        sets = {path.stem: read_labelled_questions(path) for path in held}
        found = _judged(questions, sets, variant, classes, out)
        if report:
            command = [str(file)] if file else []
            command += [f"--held-out {path}" for path in held]
            command.append(f"--report {report}")
            text = _report(questions, sets, " ".join(command), quiet=as_json)
            write_file(report, text)
        if as_json:
            print_json(
                {
                    "variant": variant,
                    "out": str(out or ""),
                    "results": list(map(_row, found)),
                }
            )
        else:
            _say(found, variant, out)


def _judged(
    questions: "Sequence[LabelledQuestion]",
    sets: "Mapping[str, Sequence[LabelledQuestion]]",
    variant: str,
    classes: int,
    out: Path | None,
) -> "list[RouterScores]":
    from ombud.retrieve import open_router
    from ombud.retrieve.router.classifying import router_weights_text as weights_text
    from research.training.router.comparing import judge_by_folds, judge_by_router, judge_weights
    from research.training.router.fine_tuning import fine_tune_router
    from research.training.router.training import train_router

    if variant == "zero-shot":
        if not sets:
            raise BadRequest(
                "A chat model learns nothing; it can only be judged.",
                hint="Name a set with --held-out.",
            )
        return judge_by_router(model_router(*workspace_settings()), sets, variant)
    if variant == "fine-tuned":
        if out is None:
            raise BadRequest("A fine-tuned router is a folder.", hint="Name one with --out.")
        fine_tune_router(questions, out, classes)
        return judge_by_router(open_router(out), sets, variant)
    tools = _tools(variant)
    weights = train_router(questions, variant, classes, tools)
    if out:
        write_file(out, weights_text(weights))
    return [
        *judge_by_folds(questions, variant, classes, tools),
        *judge_weights(weights, sets, tools),
    ]


def _report(
    questions: "Sequence[LabelledQuestion]",
    sets: "Mapping[str, Sequence[LabelledQuestion]]",
    command: str,
    *,
    quiet: bool,
) -> str:
    from research.training.router.comparing import compare_routers, router_report

    with progress(not quiet) as on_progress:
        comparison = compare_routers(questions, sets, _tools("combined"), on_progress)
    return router_report(comparison, f"python -m research.training.router {command}")


def _tools(variant: str) -> "TrainingEmbedder":
    """An embedder where the variant has vectors."""
    from ombud.models import open_embedder
    from research.training.linear import TrainingEmbedder

    if variant not in ("minilm", "combined"):
        return TrainingEmbedder()
    settings, home = workspace_settings()
    embedder = open_embedder(settings.models, home / ".ombud" / "models")
    if embedder is None:
        raise MissingExtra(
            f"The variant `{variant}` needs an embedder.", hint="Set models.embedder = 'minilm'."
        )
    return TrainingEmbedder(embedder.embed, embedder.fingerprint)


def _row(result: "RouterScores") -> dict[str, Any]:
    figures = result.figures
    return {
        "set": result.held,
        "classes": result.classes,
        "macro_f1": figures.f1,
        "interval": [figures.low, figures.high],
        "macro_precision": figures.precision,
        "macro_recall": figures.recall,
        "questions": figures.questions,
        "templates": figures.clusters,
        "per_class": [one._asdict() for one in figures.classes],
    }


def _say(found: "list[RouterScores]", variant: str, out: Path | None) -> None:
    for result in found:
        figures = result.figures
        interval = f"[{figures.low:.3f}, {figures.high:.3f}]"
        print(
            f"{variant}, {result.classes} classes, {result.held}: "
            f"macro F1 {figures.f1:.3f} {interval}, n {figures.questions}"
        )
    if out:
        print(f"Written: {out}")


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(teach_router)

if __name__ == "__main__":
    with command_process():
        app()
