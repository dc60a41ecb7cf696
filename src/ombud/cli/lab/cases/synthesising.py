"""`ombud lab synth`: cases that a chat model writes from the documents."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, print_json, progress, write_file
from ombud.cli.lab.asking import SEED, TARGET
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import complete, target_of

if TYPE_CHECKING:
    from ombud.app import Workspace
    from ombud.lab import CaseWriter, FileReplies, Target, WritingRequest
    from ombud.models import Chat
    from ombud.types import Chunk, Person

SAMPLED = 50
"""Passages against which the relevance of a question is measured."""


def synth(
    out: Path = typer.Option(..., "--out", help="The .jsonl of cases to write."),
    size: int = typer.Option(500, "--sample", min=1, help="How many cases."),
    types: str = typer.Option(
        "", "--types", help="Such as simple,comparative; empty = all fourteen."
    ),
    personas: str = typer.Option("", "--personas", help="Who asks, such as employee,manager."),
    target: str = TARGET,
    seed: int = SEED,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Have a chat model write cases from the indexed passages and a critic check each. Stopped,
    the same command goes on."""
    del home
    with errors_said(as_json):
        from dataclasses import asdict

        from ombud.lab import FileReplies, cases_text

        workspace = lab_workspace()
        chat = _writer(workspace)
        request = _request(workspace, size, types, personas, seed)
        replies = FileReplies(out.with_name(f"{out.stem}.replies.jsonl"))
        with progress(not as_json) as on_progress:
            source = target_of(workspace, target, on_progress=on_progress)
            passages = list(source.passages())
            writer = _case_writer(workspace, chat, source, passages, replies)
            work = writer.write(passages, request, on_progress)
            made = complete(work, source)
        write_file(out, cases_text(made.cases))
        if as_json:
            print_json({"cases": len(made.cases), "file": str(out), **asdict(made.account)})
            return
        print(made.account.as_text())
        print(_cost(chat, replies))
        print(
            f"Wrote {len(made.cases)} cases to {out}. They are tagged `synthetic`: "
            f"`ombud lab review {out}` has people accept them."
        )


def _writer(workspace: "Workspace") -> "Chat":
    """Raises BadRequest where no model is set up."""
    from ombud.errors import BadRequest

    chat = workspace.models.chat("synthesise")
    if chat is None:
        raise BadRequest(
            "No model is set up to write cases.",
            hint="Set `chat` in [models], or `synthesise` in [models.roles]. Without a model, "
            "bring cases as .jsonl or .csv: `ombud lab import`, also of --past-questions.",
        )
    return chat


def _request(
    workspace: "Workspace", size: int, types: str, personas: str, seed: int
) -> "WritingRequest":
    """Raises UnknownName for a persona that does not exist."""
    from ombud.errors import UnknownName
    from ombud.lab import WritingRequest

    readers: dict[str, str] = {}
    for name in _names(personas):
        if name not in workspace.personas:
            persona_names = ", ".join(workspace.personas)
            raise UnknownName(f"No persona is called `{name}`.", hint=f"Known: {persona_names}.")
        readers[name] = workspace.personas[name].audience
    return WritingRequest(size=size, types=_names(types), readers=readers, seed=seed)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _case_writer(
    workspace: "Workspace",
    chat: "Chat",
    target: "Target",
    passages: "Sequence[Chunk]",
    replies: "FileReplies",
) -> "CaseWriter":
    """Set up the case writer; its critic is the judge, if one is set, so that no model checks its
    own work."""
    from ombud.app import PROMPTS, embed_of
    from ombud.lab import CaseWriter, Cleaner, Judge, JudgePolicy
    from ombud.prompts import load_sections
    from ombud.types import Question

    async def search(question: str, asker: "Person") -> "Sequence[Chunk]":
        hits, _ = await target.search(Question(text=question, asker=asker), {})
        return [hit.chunk for hit in hits]

    policy = JudgePolicy(
        window=workspace.settings.lab.judge_window,
        seconds=workspace.settings.models.timeout_seconds,
    )
    words = load_sections("synthesise", chat.name, workspace.home / PROMPTS).words
    return CaseWriter(
        Judge(chat, words, policy, replies=replies),
        Judge(workspace.models.chat("judge") or chat, words, policy, replies=replies),
        words,
        Cleaner(embed_of(workspace), passages[:: max(1, len(passages) // SAMPLED)]),
        search=search,
    )


def _cost(chat: "Chat", replies: "FileReplies") -> str:
    price = "price not known" if replies.price is None else f"{replies.price:.4f} US dollars"
    return f"Written by {chat.name}: {replies.tokens:,} tokens, {price}."
