"""A chat model as a judge: asked once for each thing, remembered, never in silence cut short."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from string import Template
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel, ValidationError

from ombud.errors import MalformedOutput
from ombud.lab.judges.forms import read_lines
from ombud.lab.metrics.metric import Embed
from ombud.store import StoredReply

if TYPE_CHECKING:
    from ombud.models import Chat, ChatReply

T = TypeVar("T", bound=BaseModel)
INVALID = "invalid verdict: "
"""How the reason of a score begins that a judge gave in no form that can be read."""
VARIED = 0.7
"""Temperature where a judge is asked several times: at 0 it would say the same again."""
CHARACTERS = 3
"""Of a token, at least, in the languages of policies: a prompt is rather taken for too long."""
_ENDINGS = {"grade": "line-grade", "statements": "line-statements", "questions": "line-questions"}


class NoVerdictError(Exception):
    """Why a judge gave no value."""


@dataclass(frozen=True, slots=True)
class JudgePolicy:
    form: Literal["typed", "line"] = "typed"
    """line: a marked last line, for models that can be held to no form."""
    repeats: int = 1
    """Times that each rubric is asked; the most frequent grade counts."""
    window: int = 32_000
    """Tokens that a prompt may have."""
    seconds: float = 60.0
    """Wall clock of one call."""


class Replies(Protocol):
    """Replies by the key of what was asked."""

    def find(self, key: str) -> StoredReply | None: ...

    def keep(self, key: str, reply: StoredReply) -> None: ...


class _HeldReplies:
    """For as long as the judge lives."""

    def __init__(self) -> None:
        self._kept: dict[str, StoredReply] = {}

    def find(self, key: str) -> StoredReply | None:
        return self._kept.get(key)

    def keep(self, key: str, reply: StoredReply) -> None:
        self._kept[key] = reply


class Judge:
    """words: the sections of the prompt `judge`. replies: those of before."""

    def __init__(
        self,
        chat: "Chat",
        words: Mapping[str, str],
        policy: JudgePolicy = JudgePolicy(),
        *,
        replies: Replies | None = None,
        embed: Embed | None = None,
    ) -> None:
        self.policy = policy
        self.embed = embed
        self.asked = 0
        """Calls made, without those that were remembered."""
        self._chat = chat
        self._words = words
        self._replies: Replies = replies or _HeldReplies()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def digest(self) -> str:
        """Identify the judge's prompts, reply form and repeats: with others it is a different
        judge."""
        how = [dict(self._words), self.policy.form, self.policy.repeats]
        return sha256(json.dumps(how, sort_keys=True).encode()).hexdigest()[:12]

    async def ask(self, section: str, kind: type[T], *, repeat: int = 0, **values: str) -> T:
        """Return one value. Raises NoVerdictError if the prompt is too long or the reply cannot be
        parsed, ModelError if the model cannot be reached."""
        prompt = self._prompt(section, values)
        tokens = len(prompt) // CHARACTERS
        if tokens > self.policy.window:
            raise NoVerdictError(
                f"the prompt has about {tokens} tokens, the judge's window {self.policy.window}"
            )
        key = self._key(kind, prompt, repeat)
        async with self._locks.setdefault(key, asyncio.Lock()):
            stored = await asyncio.to_thread(self._replies.find, key)
            if stored is None:
                stored = await self._reply(kind, prompt)
                await asyncio.to_thread(self._replies.keep, key, stored)
        read = json.loads(stored.reply)
        if "invalid" in read:
            raise NoVerdictError(f"{INVALID}{read['invalid']}")
        return kind.model_validate(read["value"])

    async def _reply(self, kind: type[T], prompt: str) -> StoredReply:
        from ombud.models import PlainText

        self.asked += 1
        form: type[BaseModel] = kind if self.policy.form == "typed" else PlainText
        try:
            reply = await self._chat.reply(
                self._words["instructions"],
                prompt,
                form,
                temperature=VARIED if self.policy.repeats > 1 else 0.0,
                seconds=self.policy.seconds,
            )
        except MalformedOutput:
            return StoredReply(self.name, json.dumps({"invalid": "no usable reply"}))
        return _kept(reply, kind)

    def _prompt(self, section: str, values: Mapping[str, str]) -> str:
        prompt = Template(self._words[section]).substitute(values)
        if self.policy.form == "typed":
            return prompt
        ending = Template(self._words[_ENDINGS.get(section, "line-support")])
        return f"{prompt}\n\n{ending.safe_substitute(values)}"

    def _key(self, kind: type[BaseModel], prompt: str, repeat: int) -> str:
        parts = [
            self.name,
            self.policy.form,
            kind.model_json_schema(),
            self._words["instructions"],
            prompt,
            self.policy.repeats > 1,
            repeat,
        ]
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _kept(reply: "ChatReply[Any]", kind: type[BaseModel]) -> StoredReply:
    from ombud.models import PlainText

    value = reply.value
    read: dict[str, Any]
    if isinstance(value, PlainText):
        try:
            value = kind.model_validate(read_lines(kind, value.text))
        except ValidationError:
            read = {"invalid": "a value that is none of the grades"}
        except ValueError as wrong:
            read = {"invalid": str(wrong)}
        else:
            read = {"value": value.model_dump()}
    else:
        read = {"value": value.model_dump()}
    return StoredReply(
        model=reply.model,
        reply=json.dumps(read),
        tokens_in=reply.tokens_in,
        tokens_out=reply.tokens_out,
        price=reply.price,
    )
