"""`ombud lab`: the list of its verbs."""

import typer

from ombud.cli.lab import asking as lab_ask
from ombud.cli.lab import people as lab_people
from ombud.cli.lab import reading as lab_read
from ombud.cli.lab import train_router as lab_train
from ombud.cli.lab import train_triage as lab_triage
from ombud.cli.printing.help import WholeHelp
from ombud.cli.publishing import checking

app = typer.Typer(
    cls=WholeHelp,
    help="Measure: cases, runs, comparisons, with honest statistics.",
    no_args_is_help=True,
)

app.command("run")(lab_ask.run)
app.command("sweep")(lab_ask.sweep)
app.command("calibrate")(lab_ask.calibrate)
app.command("synth")(lab_ask.synth)
app.command("check")(checking.check)
app.command("train-router")(lab_train.teach_router)
app.command("train-triage")(lab_triage.teach_triage)
app.command("list")(lab_read.list_all)
app.command("show")(lab_read.show)
app.command("compare")(lab_read.compare)
app.command("report")(lab_read.report)
app.command("gate")(lab_read.gate)
app.command("trend")(lab_read.trend)
app.command("rescore")(lab_read.rescore)
app.command("score")(lab_read.score)
app.command("export")(lab_read.export)
app.command("delete")(lab_read.delete)
app.command("agree")(lab_people.agree)
app.command("align")(lab_people.align)
