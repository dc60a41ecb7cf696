"""Any RAG system as a target: a Python function, or an HTTP service that a [target] table
describes.

What the system does not give is noted in the observation (`lacks`), and metrics that need it have
no value."""

import asyncio
import importlib
import inspect
import os
import sys
import tomllib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Any, NoReturn
from urllib.parse import quote

import jmespath
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from ombud.errors import LabError, SetupError
from ombud.lab.runs.connection import Connection, same_address
from ombud.lab.runs.target import Target
from ombud.settings import TargetSettings
from ombud.types import Answer, Case, Chunk, Hit, Observation, Outcome, Question, Trace

NEVER_GIVEN = ("citations", "next steps", "model calls", "scores of passages")
"""Parts of an ombud answer that other systems have no way to give."""


class SystemReply(BaseModel):
    """A system's reply to one question; None for what it does not give."""

    model_config = ConfigDict(extra="forbid")

    answer: str | None = None
    contexts: tuple[str, ...] | None = None
    """Texts of the passages that it used, best first."""
    ids: tuple[str, ...] | None = None
    """The document of each passage, as the cases' evidence names documents."""
    outcome: Outcome | None = None
    """full, partial, or denied: it said that it does not know."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    price: float | None = None
    """US dollars."""
    model: str = ""

    @field_validator("ids", mode="before")
    @classmethod
    def _as_texts(cls, ids: Any) -> Any:
        return [str(one) for one in ids] if isinstance(ids, list | tuple) else ids

    @model_validator(mode="after")
    def _is_whole(self) -> "SystemReply":
        if self.answer is None and self.contexts is None and self.ids is None:
            raise ValueError("it is empty")
        if self.contexts is not None and self.ids is not None:
            counts = len(self.contexts), len(self.ids)
            if counts[0] != counts[1]:
                raise ValueError(f"{counts[0]} contexts and {counts[1]} ids, one for each wanted")
        return self

    @property
    def lacks(self) -> tuple[str, ...]:
        missing = [part for part in ("answer", "contexts", "ids", "outcome") if self._lacks(part)]
        if self.tokens_in is None and self.tokens_out is None:
            missing.append("tokens")
        if self.price is None:
            missing.append("price")
        return (*missing, *NEVER_GIVEN)

    def _lacks(self, part: str) -> bool:
        return getattr(self, part) is None

    def hits(self) -> tuple[Hit, ...] | None:
        """Make a hit of each passage, as far as its text and its document are known."""
        if self.contexts is None and self.ids is None:
            return None
        texts = self.contexts if self.contexts is not None else ("",) * len(self.ids or ())
        ids = self.ids if self.ids is not None else ("",) * len(texts)
        return tuple(
            Hit(chunk=_chunk(uri, text), score=1 / place)
            for place, (uri, text) in enumerate(zip(ids, texts, strict=True), start=1)
        )

    def observed(self, case: Case, seconds: float | None) -> Observation:
        answer = None
        if self.answer is not None:
            trace = Trace(
                model=self.model,
                tokens_in=self.tokens_in or 0,
                tokens_out=self.tokens_out or 0,
                price=self.price,
            )
            answer = Answer(outcome=self.outcome or "full", text=self.answer, trace=trace)
        hits = self.hits()
        return Observation(case=case, hits=hits, answer=answer, seconds=seconds, lacks=self.lacks)


def read_reply(value: Any) -> SystemReply:
    """Read a reply: text is an answer; a mapping or a dataclass has the fields of `SystemReply`.
    Raises LabError."""
    fields = {"answer": value} if isinstance(value, str) else value
    if is_dataclass(value) and not isinstance(value, type):
        fields = asdict(value)
    if not isinstance(fields, Mapping):
        raise LabError(f"The target gave a {type(value).__name__}.", hint=_WANTED)
    try:
        return SystemReply.model_validate(dict(fields))
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(map(str, first["loc"]))
        why = f"`{where}`: {first['msg'].lower()}" if where else str(first["ctx"]["error"])
        raise LabError(f"The target's reply: {why}.", hint=_WANTED) from wrong


_WANTED = (
    "It gives a text, or `answer`, `contexts` and `ids` (each may be left out), and if it knows "
    "them `outcome`, `tokens_in`, `tokens_out`, `price`, `model`."
)


class SystemTarget:
    """A system that is not ombud: asked once for each case, whatever the metrics look at."""

    def __init__(
        self,
        name: str,
        reply_to: Callable[[Question], Awaitable[SystemReply]],
        description: Mapping[str, Any],
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.name = name
        self._reply_to = reply_to
        self._description = dict(description)
        self._close = close

    async def reply(self, question: Question, plan: Mapping[str, Any]) -> SystemReply:
        """Raises LabError where it fails, and where a plan is set, which it does not have."""
        self.check_plan(plan)
        return await self._reply_to(question)

    def check_plan(self, plan: Mapping[str, Any]) -> None:
        if plan:
            raise SetupError(
                f"{self.name} has no plan to set {', '.join(plan)} in.",
                hint="Plans are ombud's own. Give each variant of your system a target of its own.",
            )

    async def ask(self, question: Question, plan: Mapping[str, Any]) -> Answer:
        reply = await self.reply(question, plan)
        answer = reply.observed(Case(id="-", question=question.text), None).answer
        if answer is None:
            raise LabError(f"{self.name} gave no answer.", hint=_WANTED)
        return answer

    async def search(
        self, question: Question, plan: Mapping[str, Any]
    ) -> tuple[tuple[Hit, ...], Trace]:
        hits = (await self.reply(question, plan)).hits()
        if hits is None:
            raise LabError(f"{self.name} gave no passages.", hint=_WANTED)
        return hits, Trace()

    async def ask_from(
        self, question: Question, plan: Mapping[str, Any], hits: Sequence[Hit], *, triage: bool
    ) -> Answer:
        self._refuse("answer from given passages")

    def describe(self) -> dict[str, Any]:
        return self._description

    def passages(self) -> Iterator[Chunk]:
        self._refuse("list its passages")

    def text_of(self, document_id: str, version: str) -> str | None:
        return None

    def variant(self, settings: Mapping[str, Any]) -> Target:
        self._refuse(f"be indexed anew with {', '.join(settings)}")

    async def aclose(self) -> None:
        if self._close:
            await self._close()

    def _refuse(self, what: str) -> NoReturn:
        raise LabError(
            f"{self.name} cannot {what}.", hint="Only ombud itself can: `--target local`."
        )


def find_system(name: str, table: TargetSettings, *, seconds: float) -> "SystemTarget | None":
    """Find the target that `module:function`, a TOML file or the address of the [target] table
    names; None if the name is none of these. Raises SetupError."""
    if name.endswith(".toml"):
        table = read_target_table(Path(name))
        return http_target(table, seconds=seconds)
    if is_function(name):
        return function_target(name)
    if name != "local" and table.url and same_address(table.url, name):
        return http_target(table, seconds=seconds)
    return None


def is_function(name: str) -> bool:
    """Tell `module:function` from an address such as localhost:8000."""
    module, _, function = name.partition(":")
    parts = [*module.split("."), *function.split(".")]
    return all(part.isidentifier() for part in parts)


def function_target(name: str) -> SystemTarget:
    """Load the target `module:function`: called with the question, in a thread unless it is async.

    It may also take `history` (the messages before) and `person` (country, roles, …). Raises
    SetupError where there is no such function.
    """
    function, source = _find_function(name)
    wanted = _parameters(function, name)

    async def reply_to(question: Question) -> SystemReply:
        if question.history and "history" not in wanted:
            raise LabError(
                f"{name} takes no `history`, and this case has messages before the question.",
                hint="Give the function a parameter `history`.",
            )
        extra = {}
        for key, value in _placeholders(question).items():
            if key in wanted and key != "question":
                extra[key] = value
        try:
            if inspect.iscoroutinefunction(function):
                returned = await function(question.text, **extra)
            else:
                returned = await asyncio.to_thread(function, question.text, **extra)
                returned = await returned if inspect.isawaitable(returned) else returned
        except Exception as failed:
            # Anything may come out of a system under test; one case must not end the run.
            raise LabError(f"{name} failed: {type(failed).__name__}: {failed}") from failed
        return read_reply(returned)

    digest = sha256(source.read_bytes()).hexdigest()[:16] if source and source.is_file() else ""
    return SystemTarget(name, reply_to, {"system": name, "source_digest": digest})


def http_target(
    table: TargetSettings, *, seconds: float, environment: Mapping[str, str] = os.environ
) -> SystemTarget:
    """Build the target that a [target] table describes. Raises SetupError for a header whose
    variable is not set and for an invalid path."""
    headers = {key: _filled(key, value, environment) for key, value in table.headers.items()}
    paths: dict[str, Any] = {}
    for part in ("answer", "contexts", "ids"):
        if written := getattr(table, part):
            paths[part] = _json_path(written)
    connection = Connection(
        table.url, seconds, headers, "Does the [target] table describe this service?"
    )
    takes_history = "{history}" in f"{table.path}{table.body}"

    async def reply_to(question: Question) -> SystemReply:
        if question.history and not takes_history:
            raise LabError(
                "The [target] table sends no {history}, and this case has messages before the "
                "question.",
                hint='Add it to the body, such as history = "{history}".',
            )
        values = _placeholders(question)
        path = table.path
        for key, value in values.items():
            path = path.replace(f"{{{key}}}", quote(str(value), safe=""))
        body = _fill(table.body, values) if table.method != "GET" else None
        sent = await connection.send(table.method, path, body)
        parts = {part: one.search(sent) for part, one in paths.items()}
        if parts.get("answer") is None and "answer" in paths:
            raise LabError(
                f"The reply has nothing at `{table.answer}`.",
                hint=f"It is {str(sent)[:200]}. Set `answer` in the [target] table.",
            )
        return read_reply(parts)

    described = table.model_dump(mode="json", exclude={"headers"})
    headed = sorted(table.headers)
    return SystemTarget(
        connection.name, reply_to, {"system": described, "headers": headed}, connection.aclose
    )


def read_target_table(path: Path) -> TargetSettings:
    """Read the [target] table of a TOML file; raises SetupError naming the file and the key."""
    hint = 'It holds a table [target] with `url`, such as url = "http://127.0.0.1:8000".'
    try:
        whole = tomllib.loads(path.read_bytes().decode())
        table = TargetSettings.model_validate(whole.get("target", {}))
    except ValidationError as wrong:
        first = wrong.errors()[0]
        where = ".".join(map(str, ("target", *first["loc"])))
        raise SetupError(f"{path}: `{where}`: {first['msg'].lower()}.", hint=hint) from wrong
    except (OSError, ValueError) as wrong:
        raise SetupError(f"{path} cannot be read: {wrong}.", hint=hint) from wrong
    if not table.url:
        raise SetupError(f"{path}: `target.url` is missing.", hint=hint)
    return table


def _find_function(name: str) -> tuple[Callable[..., Any], Path | None]:
    module_name, _, path = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
        function: Any = module
        for part in path.split("."):
            function = getattr(function, part)
    except Exception as failed:
        # Importing runs a stranger's module.
        raise SetupError(
            f"`{name}` cannot be loaded: {type(failed).__name__}: {failed}.",
            hint=f"It is looked for in {here} and among installed packages.",
        ) from failed
    if not callable(function):
        raise SetupError(f"`{name}` is no function.", hint="Name one that takes a question.")
    source = getattr(module, "__file__", None)
    return function, Path(source) if source else None


def _parameters(function: Callable[..., Any], name: str) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError) as wrong:
        raise SetupError(f"`{name}` does not say what it takes.", hint="Wrap it.") from wrong


def _placeholders(question: Question) -> dict[str, Any]:
    """Collect the values that a body, a path or a function may ask for."""
    return {
        "question": question.text,
        "history": [
            {"role": message.role, "content": message.content} for message in question.history
        ],
        "person": question.asker.model_dump(mode="json", exclude={"id"}, exclude_none=True),
        "country": question.asker.country or "",
    }


def _fill(template: Any, values: Mapping[str, Any]) -> Any:
    """Replace placeholders; a value that is nothing but a placeholder takes the type of what it
    stands for."""
    if isinstance(template, Mapping):
        return {key: _fill(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [_fill(value, values) for value in template]
    if not isinstance(template, str):
        return template
    for key, value in values.items():
        if template == f"{{{key}}}":
            return value
        if isinstance(value, str):
            template = template.replace(f"{{{key}}}", value)
    return template


def _filled(header: str, value: str, environment: Mapping[str, str]) -> str:
    try:
        return Template(value).substitute(environment)
    except (KeyError, ValueError) as wrong:
        raise SetupError(
            f"The header `{header}` of [target]: {value!r} names no variable that is set.",
            hint='A value such as "Bearer $RAG_TOKEN" takes RAG_TOKEN from the environment.',
        ) from wrong


def _json_path(written: str) -> Any:
    try:
        return jmespath.compile(written.removeprefix("$").removeprefix("."))
    except jmespath.exceptions.JMESPathError as wrong:
        raise SetupError(
            f"`{written}` is no path into JSON.", hint="Such as answer, or passages[*].text."
        ) from wrong


def _chunk(uri: str, text: str) -> Chunk:
    # The store keeps a passage once for all runs, by its id.
    digest = sha256(f"{uri}\0{text}".encode()).hexdigest()[:16]
    return Chunk(
        id=f"system-{digest}",
        document_id=uri,
        title=uri,
        uri=uri,
        text=text,
        start=0,
        end=len(text),
    )
