"""Requests of OpenAI clients, and errors in their format. Of the many fields that clients send,
those that would change what comes back are followed or refused."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from ombud.errors import OmbudError
from ombud.types import MOST_MESSAGES, Person

LARGEST_MESSAGE = 200_000
"""Largest number of characters in an earlier message, which may contain a pasted document; only its
beginning is used."""
LONGEST_QUESTION = 4_000


class WrongRequestError(Exception):
    """A request that the client must change."""

    def __init__(self, message: str, *, param: str = "", code: str = "", status: int = 400) -> None:
        super().__init__(message)
        self.param, self.code, self.status = param, code, status


class LenientModel(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ContentPart(LenientModel):
    type: str
    text: str = ""


class ChatMessage(LenientModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None

    def text(self) -> str:
        """Return the text of the message. Raises WrongRequestError for other content, such as
        images."""
        if isinstance(self.content, list):
            for part in self.content:
                if part.type not in ("text", "input_text", "output_text"):
                    raise WrongRequestError(
                        f"Messages of type `{part.type}` are not read: write it in words.",
                        param="messages",
                    )
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(LenientModel):
    include_usage: bool = False


class AnyRequest(LenientModel):
    """Fields of every endpoint that answers."""

    model: str = Field(max_length=200)
    stream: bool = False
    metadata: dict[str, Any] = {}
    """country, role, grade, contract: facts about the asker; as_of: the day whose rules apply."""
    user: str = Field("", max_length=200)
    tools: list[Any] = []
    tool_choice: Any = None
    refused: ClassVar[Mapping[str, str]] = {}
    """Field -> why any value but an empty one is refused."""

    @field_validator("metadata", "user", "tools", mode="before")
    @classmethod
    def _null_is_nothing(cls, value: Any, info: Any) -> Any:
        return cls.model_fields[info.field_name].default if value is None else value

    @model_validator(mode="before")
    @classmethod
    def _only_what_is_done(cls, body: Any) -> Any:
        """Raise WrongRequestError for what would be ignored."""
        for name, reason in cls.refused.items() if isinstance(body, dict) else ():
            if body.get(name):
                raise WrongRequestError(f"`{name}` is not supported: {reason}.", param=name)
        return body

    def refuse_tools(self) -> None:
        """Raise WrongRequestError for tools that the answer might have to call."""
        if self.tools and self.tool_choice != "none":
            raise WrongRequestError(
                "`tools` is not supported: answers come from the documents and call nothing.",
                param="tools",
            )

    def person(self, persona: str) -> Person:
        """Build the asker from the metadata. Raises WrongRequestError."""
        fields: dict[str, Any] = {"id": self.user, "persona": persona, "country": self._country()}
        for name in ("grade", "contract", "language"):
            if self.metadata.get(name):
                fields[name] = self.metadata[name]
        if self.metadata.get("role"):
            fields["roles"] = (str(self.metadata["role"]),)
        try:
            return Person(**fields)
        except ValidationError as wrong:
            raise WrongRequestError(
                "The metadata do not describe a person.", param="metadata"
            ) from wrong

    def _country(self) -> str | None:
        country = str(self.metadata.get("country") or "").upper()
        if not country:
            return None
        if len(country) != 2 or not country.isascii() or not country.isalpha():
            raise WrongRequestError(
                f"`{country[:20]}` is no country: two letters, such as GB.",
                param="metadata.country",
            )
        return country

    def day(self) -> date | None:
        """Return the day of `as_of`. Raises WrongRequestError."""
        written = self.metadata.get("as_of")
        if not written:
            return None
        try:
            return date.fromisoformat(str(written))
        except ValueError as wrong:
            raise WrongRequestError(
                "as_of is no day: such as 2026-01-31.", param="metadata.as_of"
            ) from wrong


class ChatRequest(AnyRequest):
    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream_options: StreamOptions | None = None
    n: int | None = None
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    stop: str | list[str] | None = None
    response_format: dict[str, Any] | None = None
    refused: ClassVar[Mapping[str, str]] = {
        "functions": "answers come from the documents and call nothing",
        "logprobs": "most answers are not written by a model",
        "audio": "answers are text",
    }

    @property
    def with_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)

    def limit(self) -> "TextLimit":
        """Return where the text is cut. Raises WrongRequestError for what cannot be done."""
        self.refuse_tools()
        if self.n not in (None, 1):
            raise WrongRequestError("`n` is not supported: there is one answer.", param="n")
        refuse_format(self.response_format, "response_format")
        stop = [self.stop] if isinstance(self.stop, str) else self.stop or []
        if not all(stop):
            raise WrongRequestError("`stop` has an empty sequence.", param="stop")
        return TextLimit(stop, self.max_completion_tokens or self.max_tokens)


class ResponsesRequest(AnyRequest):
    """A request of `/v1/responses`."""

    input: str | list[ChatMessage]
    max_output_tokens: int | None = Field(None, ge=1)
    text: dict[str, Any] | None = None
    refused: ClassVar[Mapping[str, str]] = {
        "previous_response_id": "nothing is kept between requests; send the earlier messages",
        "conversation": "nothing is kept between requests; send the earlier messages",
        "background": "the answer comes with the response",
        "prompt": "prompts are the organisation's",
    }

    def limit(self) -> "TextLimit":
        """Return where the text is cut. Raises WrongRequestError for what cannot be done."""
        self.refuse_tools()
        refuse_format((self.text or {}).get("format"), "text.format")
        return TextLimit([], self.max_output_tokens)

    def chat(self) -> ChatRequest:
        """Return the request as a chat."""
        messages = self.input
        if isinstance(messages, str):
            messages = [ChatMessage(role="user", content=messages)]
        if not messages:
            raise WrongRequestError("There is no question in it.", param="input")
        return ChatRequest(
            model=self.model,
            messages=messages,
            stream=self.stream,
            metadata=self.metadata,
            user=self.user,
        )


def refuse_format(wanted: dict[str, Any] | None, param: str) -> None:
    if wanted and wanted.get("type", "text") != "text":
        raise WrongRequestError(
            f"`{param}` must be text: an answer is sentences with citations.", param=param
        )


class TextLimit:
    """Cuts a growing text before a stop sequence, or after so many tokens of four characters."""

    def __init__(self, stop: Sequence[str], tokens: int | None) -> None:
        self._stop = stop
        self._left = None if tokens is None else 4 * tokens
        self._unsent = ""
        self.ended = ""
        """`stop` or `length` once nothing more may be sent."""
        self.sent = ""

    def take(self, piece: str, *, is_last: bool = False) -> str:
        """Return what of the text may be sent now."""
        if self.ended:
            return ""
        text = self._unsent + piece
        places = [place for place in map(text.find, self._stop) if place >= 0]
        if places:
            self.ended = "stop"
            text = text[: min(places)]
        # The beginning of a stop sequence may stand at the end.
        longest = max(map(len, self._stop), default=1) - 1
        keep = 0 if is_last or places else min(longest, len(text))
        self._unsent = text[len(text) - keep :]
        text = text[: len(text) - keep]
        if self._left is not None:
            if len(text) > self._left:
                self.ended = "length"
                text = text[: self._left]
            self._left -= len(text)
        self.sent += text
        return text


def error_json(error: Exception) -> tuple[int, dict[str, Any]]:
    """Return (status, body) of an error in the format of OpenAI."""
    if isinstance(error, WrongRequestError):
        return error.status, error_body(
            str(error), "invalid_request_error", param=error.param, code=error.code
        )
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return 400, error_body(f"{place}: {first['msg']}", "invalid_request_error", param=place)
    if isinstance(error, OmbudError):
        kind = "invalid_request_error" if error.status < 500 else "server_error"
        return error.status, error_body(f"{error} {error.hint}".strip(), kind)
    return 500, error_body("Something went wrong on the server.", "server_error")


def error_body(message: str, kind: str, *, param: str = "", code: str = "") -> dict[str, Any]:
    return {
        "error": {"message": message, "type": kind, "param": param or None, "code": code or None}
    }
