"""`ombud lab`: the list of its verbs."""

import typer

from ombud.cli.lab import asking as lab_ask
from ombud.cli.lab import calibrating as lab_calibrate
from ombud.cli.lab import judging as lab_judge
from ombud.cli.lab import moved as lab_moved
from ombud.cli.lab import online as lab_online
from ombud.cli.lab import reading as lab_read
from ombud.cli.lab import timing as lab_time
from ombud.cli.lab import tuning as lab_tune
from ombud.cli.lab.cases import exporting as lab_export
from ombud.cli.lab.cases import freezing as lab_freeze
from ombud.cli.lab.cases import synthesising as lab_synth
from ombud.cli.lab.people import agreeing as lab_people
from ombud.cli.lab.people import annotating as lab_annotate
from ombud.cli.lab.people import harvesting as lab_harvest
from ombud.cli.lab.people import overturning as lab_overturn
from ombud.cli.lab.people import reviewing as lab_review
from ombud.cli.lab.people import rounds as lab_round
from ombud.cli.printing.help import WholeHelp
from ombud.cli.publishing import checking

app = typer.Typer(
    cls=WholeHelp,
    help="Measure: cases, runs, comparisons, with honest statistics.",
    no_args_is_help=True,
)

app.command("run")(lab_ask.run)
app.command("sweep")(lab_ask.sweep)
app.command("time")(lab_time.time_together)
app.command("calibrate")(lab_calibrate.calibrate)
app.command("tune")(lab_tune.tune)
app.command("ablate")(lab_tune.ablate)
app.command("noise")(lab_tune.noise)
app.command("synth")(lab_synth.synth)
app.command("check")(checking.check)
app.command("list")(lab_read.list_all)
app.command("show")(lab_read.show)
app.command("compare")(lab_read.compare)
app.command("report")(lab_read.report)
app.command("gate")(lab_read.gate)
app.command("trend")(lab_read.trend)
app.command("rescore")(lab_read.rescore)
app.command("score")(lab_read.score)
app.command("export")(lab_export.export)
app.command("delete")(lab_read.delete)
app.command("rubrics")(lab_judge.rubrics)
app.command("variants")(lab_online.variants)
app.command("agree")(lab_people.agree)
app.command("align")(lab_people.align)
app.command("annotate")(lab_annotate.annotate)
app.command("overturn")(lab_overturn.overturn)
app.command("grade")(lab_annotate.grade)
app.command("freeze")(lab_freeze.freeze)
app.command("harvest")(lab_harvest.harvest)
app.command("round")(lab_round.publishing_round)
app.command("review")(lab_review.review)
lab_moved.add_moved_commands(app)
