"""What is said to the model that writes an answer: named components, put together for a persona and
a model."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple

from ombud.answer.compose.components import TASKS, stays, switched
from ombud.answer.personas.personas import Persona
from ombud.answer.quoting.spans import SEVERAL_SECTIONS, words_in
from ombud.prompts import Sections, load_sections
from ombud.types import Chunk, Evidence, Hit, Person, Question, Triplet

MARKS = re.compile(
    r"<\s*(/?\s*(?:passage|local_passages|global_passages|connections|earlier_messages|question"
    r"|turn|message))\b",
    re.IGNORECASE,
)
"""What would open or close one of our own marks inside a document."""
BRACKETS = re.compile(r"\[\s*(/?\s*INST)\s*\]", re.IGNORECASE)
MOST_TURNS = 6
"""Earlier messages that are told."""
AROUND = ("turn-delimiters", "question-first")
"""Components that say where other sections stand, and are none themselves."""
SCOPES = "scopes"
"""Which of two scopes counts: said where there are passages of both."""


class PromptValues(NamedTuple):
    """The values that fill the sections of a prompt."""

    question: Question
    labels: Mapping[str, Hit]
    """Label -> passage, in the order in which they are shown."""
    connections: Sequence[str]
    persona: Persona
    organisation: str
    day: date


class ComposePrompt(NamedTuple):
    instructions: str
    message: str
    digests: dict[str, str]
    """Prompt file -> digest, as a trace holds it."""
    notes: tuple[str, ...]


def build_prompt(
    values: PromptValues, components: Sequence[str], *, model: str, prompts: Path | None = None
) -> ComposePrompt:
    """Build the prompt of one answer. prompts: a folder of the workspace's own."""
    on = switched(components)
    filled = prompt_fields(values)
    digests: dict[str, str] = {}
    notes: list[str] = []
    sections_of: dict[str, dict[str, str]] = {}
    for task in TASKS:
        sections = load_sections(task, model, prompts)
        digests.update(_digests(sections))
        if sections.note:
            notes.append(sections.note)
        if "" in sections.words and components:
            name = sections.files[0].name
            notes.append(f"plan.components plays no part in {name}, which has no sections.")
        sections_of[task] = with_other_models_words(task, sections, on, prompts, digests)
    has_both_scopes = len({label[0] for label in values.labels}) > 1
    instructions: list[str] = []
    for name, words in sections_of["compose"].items():
        if name == SCOPES and not has_both_scopes:
            continue
        if stays(name, on):
            instructions.append(fill_section(words, filled))
    questions = sections_of["question"]
    return ComposePrompt(
        instructions="\n\n".join(filter(None, instructions)),
        message=build_message(questions, on, filled),
        digests=digests,
        notes=tuple(notes),
    )


def _digests(sections: Sections) -> dict[str, str]:
    return {file.name: file.digest for file in sections.files}


def with_other_models_words(
    task: str,
    sections: Sections,
    on: Mapping[str, str],
    prompts: Path | None,
    digests: dict[str, str],
) -> dict[str, str]:
    """Return the sections, with the plan's replacements from other models' prompts. The files they
    come from are added to `digests`."""
    words = dict(sections.words)
    for name, model in on.items():
        if not model or name not in words:
            continue
        other = load_sections(task, model, prompts)
        words[name] = other.words.get(name, words[name])
        digests.update(_digests(other))
    return words


def build_message(
    sections: Mapping[str, str], on: Mapping[str, str], values: Mapping[str, str]
) -> str:
    names: list[str] = []
    for name in sections:
        if stays(name, on) and name not in AROUND:
            names.append(name)
    if "question-first" in on:
        names = move_question_first(names)
    paragraphs = [fill_section(sections[name], values) for name in names]
    message = "\n\n".join(filter(None, paragraphs))
    around = sections.get("turn-delimiters", "")
    if around and "turn-delimiters" in on:
        return fill_section(around, {**values, "turn": message})
    return message


def move_question_first(names: Sequence[str]) -> list[str]:
    """Move the question right before the context, if the message has both."""
    order = list(names)
    if "question" in order and "context" in order:
        order.remove("question")
        order.insert(order.index("context"), "question")
    return order


def fill_section(words: str, values: Mapping[str, str]) -> str:
    """Fill a section; empty if all values that it needs are."""
    template = Template(words)
    needed = template.get_identifiers()
    if needed and not any(values[name] for name in needed):
        return ""
    return template.substitute(values)


def asker_fields(asker: Person, day: date) -> dict[str, str]:
    """Return the facts of the asker that a prompt may name, and the day for which it is asked."""
    return {
        "date": day.isoformat(),
        "country": asker.country or "not given",
        "roles": ", ".join(asker.roles) or "none",
        "grade": asker.grade or "not given",
    }


def question_fields(question: Question, day: date) -> dict[str, str]:
    """Return the question with the facts of its asker, for a prompt about claims that answer it."""
    return {"question": harmless(question.text), **asker_fields(question.asker, day)}


def passage_lines(texts: Mapping[str, str], form: str) -> list[str]:
    """Return each passage with its label, in the form of a prompt's section."""
    lines: list[str] = []
    for label, text in texts.items():
        lines.append(Template(form).safe_substitute(label=label, text=harmless(text)))
    return lines


def prompt_fields(values: PromptValues) -> dict[str, str]:
    question = values.question
    persona = values.persona
    style = (persona.density, persona.style, persona.vocabulary)
    history: list[str] = []
    for message in question.history[-MOST_TURNS:]:
        history.append(f"{message.role}: {harmless(message.content)}")
    return {
        "organisation": values.organisation,
        "audience": persona.audience,
        "tailoring": persona.instructions,
        "words": str(persona.length),
        "style": " ".join(filter(None, style)),
        **asker_fields(question.asker, values.day),
        "local": _passages(values.labels, "L"),
        "shared": _passages(values.labels, "G"),
        "connections": "\n".join(values.connections),
        "history": "\n".join(history),
        "question": harmless(question.text),
        "turn": "",
    }


def _passages(labels: Mapping[str, Hit], letter: str) -> str:
    passages: list[str] = []
    for label, hit in labels.items():
        if label[0] == letter:
            passages.append(_passage(label, hit))
    return "\n\n".join(passages) or "(none)"


def _passage(label: str, hit: Hit) -> str:
    chunk = hit.chunk
    body = harmless(f"{chunk.header}\n{chunk.text}".strip())
    # A ">" ends no attribute, so that it may stand as it is: escaped it costs three tokens.
    title = escape(harmless(passage_title(hit)), quote=True).replace("&gt;", ">")
    facts = [f'label="{label}"']
    if chunk.mandatory:
        facts.append("MANDATORY")
    facts.append(f'title="{title}"')
    if chunk.effective_from:
        facts.append(f'from="{chunk.effective_from}"')
    if chunk.effective_to:
        facts.append(f'until="{chunk.effective_to}"')
    return f"<passage {' '.join(facts)}>\n{body}\n</passage>"


def passage_title(hit: Hit) -> str:
    """Return a passage's headings without those that its text repeats."""
    *above, nearest = hit.chunk.trail or ("",)
    lines = {line.strip("# ") for line in hit.chunk.text.splitlines()}
    joined = nearest.split(SEVERAL_SECTIONS)
    own = [heading for heading in joined if heading not in lines]
    return " > ".join([*above, SEVERAL_SECTIONS.join(own or joined[:1])])


def harmless(text: str) -> str:
    """Remove our own delimiters, so that a document cannot close the passage it stands in."""
    return BRACKETS.sub(r"[ \1 ]", MARKS.sub(r"< \1", text))


def token_cost(chunk: Chunk) -> float:
    """Estimate the tokens of a passage in a prompt."""
    return estimate_tokens(f"{chunk.header} {chunk.text}")


def fit(evidence: Evidence, budget: int) -> tuple[tuple[Hit, ...], tuple[Triplet, ...]]:
    """Return the whole passages from the top, and then the connections, that fit the token budget
    (words x 4/3). At least one passage always stays."""
    hits: list[Hit] = []
    tokens = 0.0
    for hit in evidence.hits:
        tokens += token_cost(hit.chunk)
        if hits and tokens > budget:
            return tuple(hits), ()
        hits.append(hit)
    triplets: list[Triplet] = []
    for triplet in evidence.triplets:
        parts = (triplet.subject, triplet.predicate, triplet.object)
        tokens += estimate_tokens(" ".join(parts))
        if tokens > budget:
            break
        triplets.append(triplet)
    return tuple(hits), tuple(triplets)


def estimate_tokens(text: str) -> float:
    """Return about how many tokens a text has."""
    return words_in(text) * 4 / 3


def labelled(hits: Sequence[Hit]) -> dict[str, Hit]:
    """Label passages of a country L1, L2 … and global ones G1, G2 …"""
    local: dict[str, Hit] = {}
    shared: dict[str, Hit] = {}
    for hit in hits:
        if hit.chunk.countries:
            local[f"L{len(local) + 1}"] = hit
        else:
            shared[f"G{len(shared) + 1}"] = hit
    return {**local, **shared}


def connected(triplets: Sequence[Triplet], label_of: Mapping[str, str]) -> list[str]:
    """Return a line for each triplet, with the label of the passage that supports it. Triplets
    without a passage in the prompt are left out, because nothing could prove them.

    label_of: chunk id -> label."""
    lines: list[str] = []
    for triplet in triplets:
        label = label_of.get(triplet.chunk_id)
        if label is None:
            continue
        parts = (triplet.subject, triplet.predicate, triplet.object)
        edge = " ".join(" | ".join(parts).split())
        lines.append(f"{harmless(edge)} [{label}]")
    return lines
