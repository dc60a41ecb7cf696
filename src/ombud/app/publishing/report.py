"""Formats a check as JSON, Markdown, or one self-contained HTML file; text of documents, questions
and answers is always escaped."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ombud.app.publishing.answering import SideAnswer
from ombud.app.publishing.changes import WORST_FIRST, AnswerChange, side_text
from ombud.app.publishing.checking import DraftCheck
from ombud.app.publishing.drafts import PolicyDraft

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

ORIGINS = {
    "case": "a case",
    "log": "asked before",
    "draft": "made from the draft",
    "replaced": "made from what it replaces",
}


def check_json(check: DraftCheck) -> dict[str, Any]:
    """Return the check as JSON, with unchanged answers only counted."""
    changed = [change for change in check.found.answers if change.kind != "unchanged"]
    return {
        "go": check.go,
        "reasons": list(check.reasons),
        "digest": check.digest,
        "made": check.made.isoformat(timespec="seconds"),
        "index_version": check.index_version,
        "drafts": list(map(draft_json, check.drafts)),
        "questions": len(check.found.answers),
        "counts": check.counts,
        "countries": counts_by_country(check.found.answers),
        "sentences": [sentence._asdict() for sentence in check.sentences],
        "changes": list(map(change_json, changed)),
        "revise": [{"id": case.id, "question": case.question} for case in check.found.revise],
        "notes": list(check.notes),
        "seconds": dict(check.seconds),
    }


def check_html(check: DraftCheck, organisation: str) -> str:
    return render("check.html", check, organisation)


def check_markdown(check: DraftCheck, organisation: str) -> str:
    return render("check.md", check, organisation)


def render(template: str, check: DraftCheck, organisation: str) -> str:
    context = {
        "check": check_json(check),
        "organisation": organisation,
        "words": WORST_FIRST,
        "origins": ORIGINS,
    }
    page = template_environment().get_template(template).render(context).lstrip()
    # A document may contain lone surrogates, which cannot be written to a file.
    return page.encode("utf-8", "replace").decode("utf-8")


def draft_json(draft: PolicyDraft) -> dict[str, Any]:
    return {
        "file": draft.path.name,
        "uri": draft.uri,
        "begins": draft.begins.isoformat(),
        "replaces": draft.replaces.uri if draft.replaces else "",
        "countries": list(draft.countries),
    }


def counts_by_country(changes: Sequence[AnswerChange]) -> dict[str, dict[str, int]]:
    """Return country ("" = none) -> kind -> answers, by their worst change."""
    by_country: dict[str, Counter[str]] = {}
    for change in changes:
        counted = by_country.setdefault(change.both.asked.country, Counter())
        counted[change.kind] += 1
    counts: dict[str, dict[str, int]] = {}
    for country in sorted(by_country):
        counts[country] = {kind: by_country[country][kind] for kind in WORST_FIRST}
    return counts


def change_json(change: AnswerChange) -> dict[str, Any]:
    question = change.both.asked
    day = question.question.as_of
    return {
        "kind": change.kind,
        "kinds": list(change.kinds),
        "country": question.country,
        "origin": question.origin,
        "case": question.case.id if question.case else "",
        "about": question.about,
        "as_of": day.isoformat() if day else "",
        "question": question.question.text,
        "live": side_json(change.both.live),
        "draft": side_json(change.both.draft),
        "figures_before": list(change.figures_before),
        "figures_after": list(change.figures_after),
    }


def side_json(side: SideAnswer) -> dict[str, Any]:
    cited: list[str] = []
    if side.answer:
        cited = list(dict.fromkeys(citation.uri for citation in side.answer.citations))
    return {
        "outcome": side.answer.outcome if side.answer else "failed",
        "text": side_text(side),
        "cited": cited,
    }


def block_quote(text: str) -> "Markup":
    """Format a Markdown block quote; the text is escaped, the marks of the quote are not."""
    from markupsafe import Markup, escape

    lines: list[str] = []
    for line in text.splitlines() or [""]:
        lines.append(f"> {escape(line)}".rstrip())
    return Markup("\n".join(lines))  # noqa: S704  each line was escaped


def one_line(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


@cache
def template_environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = Path(__file__).parent
    made = Environment(
        loader=FileSystemLoader([folder, folder.parent / "gaps"]),  # the reports look alike
        autoescape=True,
        undefined=StrictUndefined,
    )
    made.trim_blocks = made.lstrip_blocks = True
    made.filters |= {"quoted": block_quote, "line": one_line}
    return made
