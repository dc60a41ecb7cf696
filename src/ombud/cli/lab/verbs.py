"""`ombud lab`: its verbs in four groups."""

import typer

from ombud.cli.lab import asking, comparing, showing, studying, tuning
from ombud.cli.lab.cases import exporting, freezing, importing, synthesising
from ombud.cli.lab.people import agreeing, annotating, reviewing, rounds
from ombud.cli.printing.help import WholeHelp

MEASURE = "Measure"
FIND_OUT = "Find out"
CASES = "Cases"
PEOPLE = "People"

app = typer.Typer(
    cls=WholeHelp,
    help="Measure: cases, runs, comparisons, with honest statistics.",
    no_args_is_help=True,
)

app.command("run", rich_help_panel=MEASURE)(asking.run)
app.command("show", rich_help_panel=MEASURE)(showing.show)
app.command("compare", rich_help_panel=MEASURE)(comparing.compare)
app.command("report", rich_help_panel=MEASURE)(comparing.report)
app.command("gate", rich_help_panel=MEASURE)(comparing.gate)
app.command("sweep", rich_help_panel=FIND_OUT)(studying.sweep)
app.command("tune", rich_help_panel=FIND_OUT)(tuning.tune)
app.command("ablate", rich_help_panel=FIND_OUT)(tuning.ablate)
app.command("study", rich_help_panel=FIND_OUT)(studying.study)
app.command("synth", rich_help_panel=CASES)(synthesising.synth)
app.command("review", rich_help_panel=CASES)(reviewing.review)
app.command("import", rich_help_panel=CASES)(importing.import_cases)
app.command("export", rich_help_panel=CASES)(exporting.export)
app.command("freeze", rich_help_panel=CASES)(freezing.freeze)
app.command("annotate", rich_help_panel=PEOPLE)(annotating.annotate)
app.command("agree", rich_help_panel=PEOPLE)(agreeing.agree)
app.command("align", rich_help_panel=PEOPLE)(agreeing.align)
app.command("round", rich_help_panel=PEOPLE)(rounds.publishing_round)
