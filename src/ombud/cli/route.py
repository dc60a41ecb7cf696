"""`ombud route`: how many passages a question needs, and what that sets."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ombud.cli.batch import print_failure, question_of, read_lines
from ombud.cli.console import HOME, JSON, errors_said, print_json, state
from ombud.errors import BadRequest, MissingExtra, OmbudError, SetupError

if TYPE_CHECKING:
    from ombud.models import Embedder
    from ombud.retrieve import Router
    from ombud.settings import Settings
    from ombud.types import Plan

NEEDS = {2: ("one passage", "two or more"), 3: ("one passage", "two passages", "three or more")}


def route_question(
    question: str = typer.Argument("", help="The question; in quotes."),
    classes: int = typer.Option(
        None, "--classes", min=2, max=3, help="2 or 3; empty = plan.classes."
    ),
    by_model: bool = typer.Option(
        False, "--model", help="Let the configured chat model count the passages."
    ),
    batch: Path = typer.Option(None, "--batch", help="Questions, one JSON object a line."),
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Classify how many passages settle a question, how sure that is, and what an adaptive plan
    takes from it."""
    del home
    with errors_said(as_json or batch is not None):
        if bool(question.strip()) == (batch is not None):
            raise BadRequest(
                "Give a question or --batch FILE.", hint='Such as ombud route "sick pay in Spain?".'
            )
        settings, folder = workspace_settings()
        plan = settings.plan.model_copy(update={"classes": classes} if classes else {})
        router = model_router(settings, folder) if by_model else _by_weights(settings, folder)
        if batch:
            raise typer.Exit(_batch(batch, plan, router))
        routed = _routed(question, plan, router)
        if as_json:
            print_json({"question": question, **routed})
        else:
            _say(routed)


def _routed(question: str, plan: "Plan", router: "Router") -> dict[str, Any]:
    from ombud.retrieve import PARAMETERS, mapped

    routed = router(question, plan.classes)
    return {
        "label": routed.label,
        "classes": plan.classes,
        "probabilities": [round(p, 4) for p in routed.probabilities],
        "parameters": {name: mapped(plan, name)[routed.label] for name in PARAMETERS},
    }


def _batch(path: Path, plan: "Plan", router: "Router") -> int:
    code = 0
    for identity, row in read_lines(path):
        try:
            if isinstance(row, OmbudError):
                raise row
            routed = _routed(question_of(row).text, plan, router)
        except OmbudError as failed:
            print_failure(identity, failed)
            code = 1
            continue
        print_json({"id": identity, **routed})
    return code


def _say(routed: dict[str, Any]) -> None:
    needs = NEEDS[routed["classes"]]
    print(f"label {routed['label']}: {needs[routed['label']]}")
    print(
        "\n".join(
            f"  {p:5.1%}  {need}" for need, p in zip(needs, routed["probabilities"], strict=True)
        )
    )
    print(", ".join(f"{name} = {value}" for name, value in routed["parameters"].items()))


def workspace_settings() -> "tuple[Settings, Path]":
    """Return the settings of the workspace, if there is one: routing works without."""
    from ombud.settings import find_home, open_settings

    home = find_home(state.home)
    return open_settings(home), home or Path.cwd()


def _by_weights(settings: "Settings", home: Path) -> "Router":
    from ombud.retrieve import open_router

    own = settings.models.router
    return open_router(home / own if own else None, _embedder(settings, home))


def _embedder(settings: "Settings", home: Path) -> "Embedder | None":
    from ombud.models import open_embedder

    try:
        return open_embedder(settings.models, home / ".ombud" / "models")
    except MissingExtra:
        return None


def model_router(settings: "Settings", home: Path) -> "Router":
    """Return the configured chat model as router; raises SetupError without one."""
    from ombud.models import open_chat
    from ombud.retrieve import Routed, classify_by_model

    chat = open_chat(settings.models, "strategy")
    if chat is None:
        raise SetupError(
            "No chat model is configured.", hint="Set models.chat, or leave --model out."
        )
    prompts = home / "prompts"

    def router(question: str, classes: int) -> Routed:
        seconds = settings.models.search_seconds
        return asyncio.run(
            classify_by_model(question, classes, chat, seconds=seconds, prompts=prompts)
        )

    return router
