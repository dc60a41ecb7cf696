"""`ombud lab synth`: cases from the documents, by rules or written by a chat model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ombud.cli.console import HOME, JSON, errors_said, print_json, progress, write_file
from ombud.cli.lab.asking import SEED, TARGET
from ombud.cli.lab.judging import lab_workspace
from ombud.cli.lab.target import complete, embed_of, target_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ombud.app import Workspace
    from ombud.lab import CaseWriter, FileReplies, Synthesis, Target, WritingRequest
    from ombud.models import Chat
    from ombud.types import Chunk, Person

    OnProgress = Callable[[str, int, int], None]

SAMPLED = 50
"""Passages against which the relevance of a question is measured."""


def synth(
    to: Path = typer.Argument(help="The .jsonl file to write."),
    size: int = typer.Option(500, "--n", min=1, help="How many cases."),
    by: str = typer.Option(
        "", "--by", help="rules or model; empty = a model where one is set for the role synthesise."
    ),
    types: str = typer.Option(
        "", "--types", help="With a model: such as simple,comparative; empty = all fourteen."
    ),
    personas: str = typer.Option(
        "", "--personas", help="With a model: who asks, such as employee,manager."
    ),
    target: str = TARGET,
    seed: int = SEED,
    as_json: bool = JSON,
    home: Path | None = HOME,
) -> None:
    """Cases from the indexed passages: by rules (headings, definitions, table rows, numbers), or
    written by a chat model and checked by another look. Stopped, the same command goes on."""
    del home
    with errors_said(as_json):
        from dataclasses import asdict

        from ombud.lab import cases_text

        workspace = lab_workspace()
        chat = _writer(workspace, by)
        with progress(not as_json) as on_progress:
            asked = target_of(workspace, target, on_progress=on_progress)
            cost = ""
            if chat:
                request = _request(workspace, size, types, personas, seed)
                replies = _replies(to)
                writer = _case_writer(workspace, chat, asked, replies)
                work = writer.write(list(asked.passages()), request, on_progress)
                made = complete(work, asked)
                cost = _cost(chat, replies)
            else:
                made = _by_rules(workspace, asked, size, seed, on_progress)
        write_file(to, cases_text(made.cases))
        if as_json:
            print_json({"cases": len(made.cases), "file": str(to), **asdict(made.account)})
            return
        print(made.account.as_text())
        if cost:
            print(cost)
        print(
            f"Wrote {len(made.cases)} cases to {to}. They are tagged `synthetic`: "
            f"`ombud lab review {to}` has people accept them."
        )


def _writer(workspace: "Workspace", by: str) -> "Chat | None":
    """None where rules are to make the cases. Raises BadRequest."""
    from ombud.errors import BadRequest

    if by not in ("", "rules", "model"):
        raise BadRequest(f"`{by}` makes no cases.", hint="--by rules, or --by model.")
    chat = workspace.models.chat("synthesise") if by != "rules" else None
    if by == "model" and chat is None:
        raise BadRequest(
            "No model is set up to write cases.",
            hint="Set models.chat, or `synthesise` in models.roles; --by rules needs none.",
        )
    return chat


def _by_rules(
    workspace: "Workspace", target: "Target", size: int, seed: int, on_progress: "OnProgress"
) -> "Synthesis":
    from ombud.lab import synthesise

    return synthesise(
        target.passages(), size, seed=seed, embed=embed_of(workspace), on_progress=on_progress
    )


def _request(
    workspace: "Workspace", size: int, types: str, personas: str, seed: int
) -> "WritingRequest":
    """Raises UnknownName for a persona that does not exist."""
    from ombud.errors import UnknownName
    from ombud.lab import WritingRequest

    readers: dict[str, str] = {}
    for name in _names(personas):
        if name not in workspace.personas:
            known = ", ".join(workspace.personas)
            raise UnknownName(f"No persona is called `{name}`.", hint=f"Known: {known}.")
        readers[name] = workspace.personas[name].audience
    return WritingRequest(size=size, types=_names(types), readers=readers, seed=seed)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _replies(to: Path) -> "FileReplies":
    from ombud.lab import FileReplies

    return FileReplies(to.with_name(f"{to.stem}.replies.jsonl"))


def _case_writer(
    workspace: "Workspace", chat: "Chat", target: "Target", replies: "FileReplies"
) -> "CaseWriter":
    """The critic is the judge where one is set, so that nobody checks their own work."""
    from ombud.app import PROMPTS
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
    chunks = list(target.passages())
    return CaseWriter(
        Judge(chat, words, policy, replies=replies),
        Judge(workspace.models.chat("judge") or chat, words, policy, replies=replies),
        words,
        Cleaner(embed_of(workspace), chunks[:: max(1, len(chunks) // SAMPLED)]),
        search=search,
    )


def _cost(chat: "Chat", replies: "FileReplies") -> str:
    price = "price not known" if replies.price is None else f"{replies.price:.4f} US dollars"
    return f"Written by {chat.name}: {replies.tokens:,} tokens, {price}."
