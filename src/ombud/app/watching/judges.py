"""The judge that the settings name, and the model that plays those who ask."""

from collections.abc import Callable, Sequence

from ombud.app.flags import PROMPTS
from ombud.app.workspace import Workspace
from ombud.lab import Embed, Judge, JudgePolicy, Metric, StoredReplies, split_judged
from ombud.prompts import load_sections
from ombud.types import Case


def judge_of(workspace: Workspace, metrics: Sequence[Metric]) -> Callable[[str], Judge] | None:
    """Return run id -> its judge; None where no metric needs one, or no model is set up for it."""
    _, given = split_judged(metrics)
    chat = workspace.models.chat("judge") if given else None
    if chat is None:
        return None
    settings = workspace.settings
    prompt = load_sections("judge", chat.name, workspace.home / PROMPTS)
    relevancy = any(metric.name == "ragas.answer_relevancy" for metric in given)
    embed = embed_of(workspace) if relevancy else None
    policy = JudgePolicy(
        form=settings.lab.judge_form,
        repeats=settings.lab.judge_repeats,
        window=settings.lab.judge_window,
        seconds=settings.models.timeout_seconds,
    )

    def of_run(run_id: str) -> Judge:
        replies = StoredReplies(workspace.store, run_id)
        return Judge(chat, prompt.words, policy, replies=replies, embed=embed)

    return of_run


def asker_for(workspace: Workspace, cases: Sequence[Case]) -> Judge | None:
    """Return the model that plays those who ask in cases with a goal; None where no case has one,
    or no model is set up."""
    played = any(case.goal for case in cases)
    chat = workspace.models.chat("synthesise") if played else None
    if chat is None:
        return None
    words = load_sections("synthesise", chat.name, workspace.home / PROMPTS).words
    policy = JudgePolicy(
        window=workspace.settings.lab.judge_window,
        seconds=workspace.settings.models.timeout_seconds,
    )
    return Judge(chat, {"instructions": words["asker"], "turn": words["asker-turn"]}, policy)


def embed_of(workspace: Workspace) -> Embed | None:
    embedder = workspace.embedder
    return (lambda texts: embedder.embed(texts).tolist()) if embedder else None
