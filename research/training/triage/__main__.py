"""`python -m research.training.triage`: train the heads of triage."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.console import HOME, JSON, errors_said, print_json, write_file
from ombud.cli.process import command_process
from ombud.cli.route import workspace_settings
from ombud.errors import MissingExtra

if TYPE_CHECKING:
    from research.training.linear import TrainingEmbedder
    from research.training.triage.judging import TriageScores
    from research.training.triage.training import SecondOpinion

VECTORS, WORDS = "with vectors", "words"


def teach_triage(
    file: Path | None = typer.Argument(
        None, help="Labelled messages, one JSON object a line; empty = the shipped set."
    ),
    no_vectors: bool = typer.Option(
        False, "--no-vectors", help="Words alone, without the workspace's embedder."
    ),
    out: Path | None = typer.Option(None, "--out", help="Where the weights go."),
    held: list[Path] = typer.Option(
        [], "--held-out", help="Labelled messages to judge by, never learnt from."
    ),
    report: Path | None = typer.Option(
        None,
        "--report",
        help="Train and judge with vectors and without; write Markdown and two plots beside it.",
    ),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Teach triage, and say how well it finds what is sensitive or out of scope. The same file, the
    same weights."""
    del home
    with errors_said(as_json):
        from ombud.answer import triage_weights_text
        from research.training.triage.judging import compare_triage, triage_report
        from research.training.triage.labelled import read_labelled_messages as read_triage_messages

        messages = read_triage_messages(file) if file else read_triage_messages()
        sets = {path.stem: read_triage_messages(path) for path in held}
        variants = _variants(not no_vectors, both=report is not None)
        opinion = _second_opinion(file, variants)
        found = compare_triage(messages, sets, variants, opinion)
        if out:
            write_file(out, triage_weights_text(found.trained[WORDS if no_vectors else VECTORS]))
        if report:
            names = {kind: f"{report.stem}-{kind}.svg" for kind in ("calibration", "coverage")}
            write_file(report.with_name(names["calibration"]), found.calibration + "\n")
            write_file(report.with_name(names["coverage"]), found.coverage + "\n")
            given = [
                *([str(file)] if file else []),
                *(f"--held-out {one}" for one in held),
                f"--report {report}",
            ]
            write_file(
                report,
                triage_report(
                    found, " ".join(["python -m research.training.triage", *given]), names
                ),
            )
        _say(found.judged, out, as_json)


def _variants(vectors: bool, *, both: bool) -> "Mapping[str, TrainingEmbedder]":
    """Raises MissingExtra where vectors are wanted and no embedder is set, BadSetting for one that
    may not see what is sensitive."""
    from ombud.answer import triage_embedder
    from ombud.models import open_embedder
    from research.training.linear import TrainingEmbedder

    words = {WORDS: TrainingEmbedder()}
    if not vectors and not both:
        return words
    settings, home = workspace_settings()
    embedder = open_embedder(settings.models, home / ".ombud" / "models")
    if embedder is None:
        raise MissingExtra(
            "Training with vectors needs an embedder.",
            hint="Set models.embedder = 'minilm', or add --no-vectors.",
        )
    triage_embedder(embedder, settings.models, needs_vectors=True)
    made = {VECTORS: TrainingEmbedder(embedder.embed, embedder.fingerprint)}
    return made | words if both else made


def _second_opinion(
    file: Path | None, variants: "Mapping[str, TrainingEmbedder]"
) -> "SecondOpinion | None":
    """Of the fine-tuned classifier, which was taught the shipped messages; None for others, and
    where MiniLM is not the embedder."""
    if file or VECTORS not in variants:
        return None
    from ombud.answer import open_fine_tuned
    from research.training.triage.held_out import HeldOutLogits
    from research.training.triage.training import SecondOpinion

    settings, home = workspace_settings()
    if settings.models.embedder != "minilm":
        return None
    fine_tuned = open_fine_tuned(home / ".ombud" / "models")
    return SecondOpinion(HeldOutLogits(), fine_tuned) if fine_tuned else None


def _say(judged: "Sequence[TriageScores]", out: Path | None, as_json: bool) -> None:
    if as_json:
        rows = list(map(_scores_json, judged))
        print_json({"out": str(out or ""), "results": rows})
        return
    for scores in judged:
        for rate in scores.rates:
            interval = f"[{rate.low:.3f}, {rate.high:.3f}]"
            figures = f"{rate.value:.3f} {interval}, n {rate.of}"
            print(f"{scores.variant}, {scores.held}: {rate.name} {figures}")
    if out:
        print(f"Written: {out}")


def _scores_json(scores: "TriageScores") -> dict[str, Any]:
    rates = {rate.name: rate._asdict() for rate in scores.rates}
    return {"variant": scores.variant, "set": scores.held, "rates": rates}


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(teach_triage)

if __name__ == "__main__":
    with command_process():
        app()
