"""A small company to ask, a model that says what it is told, and what must hold of every answer."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from pydantic_ai import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.usage import RequestUsage
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from copies import copy_of
from ingest.shelf import Shelf
from ombud.app import Workspace, asking, library
from ombud.models import Chat
from ombud.settings import FILE
from ombud.types import Answer, Person, Question

GB, FR, US, NOBODY = Person(country="GB"), Person(country="FR"), Person(country="US"), Person()
LEAVE = "How many days of annual leave do employees have in a year?"

CONTACTS = """
[[contact]]
topic = "general"
name = "HR desk"
mail = "hr@example.com"
[[contact]]
topic = "travel"
name = "Travel desk"
[[contact]]
topic = "harassment"
name = "Dignity adviser UK"
country = "GB"
[[contact]]
topic = "harassment"
name = "Dignity adviser"
[[contact]]
topic = "wellbeing"
name = "Harbour line"
"""

FILES: dict[str, tuple[str, dict[str, str]]] = {
    "leave-gb.md": (
        "# Leave in Great Britain\n\n## Annual leave\n\n🎉 Café society: naïve rules. Employees "
        "in Great Britain have "
        "26 days of annual leave a year. Unused days expire on 31 March.\n\n"
        "## Carrying over\n\nEmployees who carry over leave into the next year need:\n\n"
        "- approval of the line manager for up to five days of carried leave\n"
        "- approval of the HR director for more than five days of carried leave\n",
        {"country": "GB", "topic": "leave"},
    ),
    "leave-fr.md": (
        "# Leave in France\n\n## Annual leave\n\nEmployees in France have 31 days of annual "
        "leave a year.\n",
        {"country": "FR", "topic": "leave"},
    ),
    "leave-floor.md": (
        "# Leave worldwide\n\n## Annual leave floor\n\nNo employee anywhere has fewer than 20 "
        "days of annual leave a "
        "year.\n",
        {"topic": "leave", "mandatory": "true"},
    ),
    "travel.md": (
        "# Travel\n\n## Hotels\n\nHotel bookings are made in the travel tool.\n\n"
        "| City | Hotel cap per night |\n| --- | --- |\n| London | 180 pounds |\n| Paris | 210 "
        "euros |\n"
        "| Oslo | 1,900 kroner |\n\n## Meals\n\nDinner on a business trip is reimbursed up to "
        "35 euros.\n",
        {"topic": "travel"},
    ),
    "dignity.md": (
        "# Dignity at work\n\nAnyone whose boss touches them against their will can speak to a "
        "dignity adviser. "
        "Harassment at work leads to dismissal.\n",
        {"topic": "harassment"},
    ),
    "bands.md": (
        "# Pay bands\n\nThe pay band of grade G5 ends at 61,000 pounds a year.\n",
        {"audience": "{roles: [manager]}", "topic": "pay"},
    ),
    "remote-1.md": (
        "# Remote work\n\nEmployees may work from home on two days in each week.\n",
        {"effective_from": "2020-01-01"},
    ),
    "remote-2.md": (
        "# Remote work\n\nEmployees may work from home on three days in each week.\n",
        {"effective_from": "2025-01-01", "supersedes": "docs/remote-1.md"},
    ),
}
"""Name -> (text, front matter)."""
PDF_PAGES = (
    "Company cars are returned on the last working day of the contract.",
    "Fuel cards are limited to 300 pounds in each calendar month.",
)


def pdf(pages: tuple[str, ...] = PDF_PAGES) -> bytes:
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    for text in pages:
        canvas.setFont("Helvetica", 12)
        canvas.drawString(72, 700, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def company(
    home: Path, embedder: str = "none", files: Mapping[str, Any] = FILES, **settings: Any
) -> Shelf:
    """A workspace of the contacts and these files, in the index."""

    def make(original: Path) -> None:
        (original / "contacts.toml").write_text(CONTACTS, encoding="utf-8")
        shelf = Shelf(original, embedder, **settings)
        for name, (text, front) in files.items():
            shelf.write(name, text, **front)
        if files is FILES:
            shelf.write("cars.pdf", pdf())
        report = shelf.sync()
        shelf.workspace.close()
        assert report.ok, report.failed

    if (home / FILE).exists():
        make(home)
    else:
        copy_of(repr((embedder, files, settings)), make, home)
    return Shelf(home, embedder, **settings)


def ask(workspace: Workspace, text: str, person: Person = GB, **options: Any) -> Answer:
    """The answer, after checking what must hold of every one."""
    named = {key: options.pop(key) for key in ("plan", "on_event") if key in options}
    answer = asyncio.run(
        asking.ask(workspace, Question(text=text, asker=person, **options), **named)
    )
    check(workspace, answer, person)
    return answer


def check(workspace: Workspace, answer: Answer, person: Person) -> None:
    for citation in answer.citations:
        document = library.document(workspace, citation.document_id, person, citation.digest)
        assert document.text[citation.start : citation.end] == citation.quote
        assert citation.quote.strip()
    cited = {place for claim in answer.claims for place in claim.citations}
    assert cited == set(range(len(answer.citations)))
    assert all(claim.citations for claim in answer.claims)
    markers = {int(n) for n in re.findall(r"(?<!\\)\[(\d+)\]", answer.text)}
    assert markers == {place + 1 for place in cited}
    not_sure = answer.outcome == "denied" and answer.action == "contact"
    assert not_sure or (answer.outcome == "denied") == (not answer.claims)
    assert Answer.model_validate_json(answer.model_dump_json()) == answer
    text = answer.trace.model_copy(update={"queries": ()}).model_dump_json()
    for chunk in library.passages(workspace):
        for line in filter(None, chunk.text.splitlines()):
            assert json.dumps(line, ensure_ascii=False)[1:-1] not in text


CLAIM_AGAIN = re.compile(r"^Claim (\d+), citing", re.MULTILINE)
"""How a repair names a claim that is to be written again."""
Draft = dict[str, Any] | str
"""What the model says: a draft, or text that is none."""


class Script:
    """A chat model that says these drafts, the last one for ever; `prompts` is what it was told
    each time."""

    def __init__(
        self, *drafts: Draft | Callable[[str], Draft], usage: tuple[int, int] = (100, 10)
    ) -> None:
        self.drafts, self.usage = list(drafts), usage
        self.prompts: list[str] = []
        self.instructions: list[str] = []

    @property
    def chat(self) -> Chat:
        return self.named("test:scripted")

    def named(self, name: str) -> Chat:
        """The same model by another name, which decides whose prompts it gets."""
        return Chat(name, FunctionModel(self._say, stream_function=self._stream))

    def _say(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = [m for m in messages if isinstance(m, ModelRequest)]
        self.prompts.append(
            "\n".join(str(getattr(part, "content", "")) for part in asked[-1].parts)
        )
        self.instructions.append(info.instructions or "")
        draft = self.drafts[min(len(self.prompts), len(self.drafts)) - 1]
        said = draft(self.prompts[-1]) if callable(draft) else draft
        tools = info.output_tools
        if CLAIM_AGAIN.search(self.prompts[-1]):
            said = repaired(said, self.prompts[-1])
        text = said if isinstance(said, str) else json.dumps(said)
        part = (
            ToolCallPart(tools[0].name, text)
            if tools and not isinstance(said, str)
            else TextPart(text)
        )
        tokens = RequestUsage(input_tokens=self.usage[0], output_tokens=self.usage[1])
        return ModelResponse(parts=[part], usage=tokens)

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        """The same, a few letters at a time."""
        (part,) = self._say(messages, info).parts
        text = part.content if isinstance(part, TextPart) else str(getattr(part, "args", ""))
        for start in range(0, len(text) or 1, 7):
            piece = text[start : start + 7]
            tool = info.output_tools[0].name if isinstance(part, ToolCallPart) else None
            yield {0: DeltaToolCall(tool if not start else None, piece)} if tool else piece


def with_model(workspace: Workspace, chat: Chat | None) -> Workspace:
    workspace.__dict__["answering"] = workspace.answering._replace(chat=chat)
    return workspace


def claim(text: str, *passages: str) -> dict[str, Any]:
    return {"text": text, "passages": list(passages)}


def draft(*claims: dict[str, Any], outcome: str = "full", **more: Any) -> dict[str, Any]:
    return {"claims": list(claims), "outcome": outcome} | more


def repaired(said: Draft, prompt: str) -> Draft:
    """A draft as it answers a repair: its claims with the numbers of those that were asked for."""
    if isinstance(said, str):
        return said
    numbers = [int(number) for number in CLAIM_AGAIN.findall(prompt)]
    claims = said["claims"]
    if len(claims) != len(numbers):
        claims = [claims[number - 1] for number in numbers if number <= len(claims)]
    return {"claims": [claim | {"number": n} for n, claim in zip(numbers, claims, strict=False)]}


def label(prompt: str, text: str) -> str:
    """The label of the passage that holds `text`: the last one opened before it."""
    opened = re.findall(
        r'<passage label="(\w+)"|^(\w+) says: ', prompt.partition(text)[0], re.MULTILINE
    )
    return str(opened[-1][0] or opened[-1][1])
