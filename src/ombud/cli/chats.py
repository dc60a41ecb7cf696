"""`ombud slack manifest` and `ombud teams manifest`: the apps that people install there."""

from pathlib import Path

import typer

from ombud.cli.console import HOME, errors_said, open_workspace, print_json, write_bytes

slack = typer.Typer(help="The app for Slack.", no_args_is_help=True)
teams = typer.Typer(help="The app for Microsoft Teams.", no_args_is_help=True)


@slack.callback()
@teams.callback()
def group() -> None:
    """Keep the name of a single command."""


@slack.command("manifest")
def print_slack_manifest(home: Path | None = HOME) -> None:
    """Print the manifest from which api.slack.com/apps makes the app."""
    del home
    with errors_said():
        from ombud.channels import slack_manifest

        print_json(slack_manifest(open_workspace().settings))


@teams.command("manifest")
def write_teams_package(
    target: Path = typer.Argument(Path("ombud-teams.zip"), help="The file to write."),
    home: Path | None = HOME,
) -> None:
    """Write the app package (manifest and icons) to upload in the Teams admin center."""
    del home
    with errors_said():
        from ombud.channels import teams_package

        write_bytes(target, teams_package(open_workspace().settings))
        print(f"Wrote {target}. Next: Teams admin center, Manage apps, Upload new app.")
