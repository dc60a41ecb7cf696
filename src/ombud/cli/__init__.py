"""Commands. Heavy parts are imported inside the commands that need them, so that --help answers at
once."""

from ombud.cli.verbs import main
