"""`/v1/chat/completions` and `/v1/models`: the last message of the user is the question, what was
said before is its history; system messages are not followed, for answers come from the documents
alone."""

import asyncio
import contextlib
import json
import logging
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from ombud.app import Workspace, asking, callers
from ombud.channels.openai.shapes import (
    LARGEST_MESSAGE,
    LONGEST_QUESTION,
    ChatRequest,
    WrongRequestError,
    error_json,
)
from ombud.channels.openai.tasks import task_reply
from ombud.channels.openai.wording import GrowingText, annotations, message_text
from ombud.channels.places import OwnPlace
from ombud.errors import OmbudError, TooMuchWork
from ombud.types import LONGEST_MESSAGE, Answer, Citation, Message, Question

NAME = "ombud"
"""The model; `ombud/PERSONA` writes for a persona."""
PULSE = 15.0
"""Seconds of silence after which a comment is sent, so that nothing on the way closes the
connection."""
DONE = "data: [DONE]\n\n"
logger = logging.getLogger(__name__)
router = APIRouter(include_in_schema=False)


class _Asked(NamedTuple):
    request: ChatRequest
    question: Question
    base: str
    identity: str
    made: int


@router.get("/v1/models")
def models(request: Request) -> dict[str, Any]:
    workspace: Workspace = request.app.state.workspace
    names = [NAME, *(f"{NAME}/{persona}" for persona in workspace.personas)]
    return {"object": "list", "data": list(map(_model, names))}


@router.get("/v1/models/{name:path}")
def model(name: str, request: Request) -> Response:
    try:
        _persona(request.app.state.workspace, name)
    except WrongRequestError as wrong:
        return _refused(wrong)
    return JSONResponse(_model(name))


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": NAME}


@router.post("/v1/chat/completions")
async def complete(request: Request) -> Response:
    workspace: Workspace = request.app.state.workspace
    try:
        body = ChatRequest.model_validate(await _json(request))
        persona = _persona(workspace, body.model)
        said = task_reply(body.messages)
        if said:
            return _task(body, said)
        asked = _asked(request, body, persona)
        account = callers.caller_of(request.scope).key
        owner = account or asked.question.asker.id
        address = request.client.host if request.client else ""
        place: OwnPlace = request.app.state.places.of(owner, account or address)
        place.check()
        if body.stream:
            return StreamingResponse(
                _stream(workspace, asked, place), media_type="text/event-stream"
            )
        async with place:
            answer = await asking.ask(workspace, asked.question)
        text = message_text(answer)
        marks = annotations(text, answer, asked.question.asker, asked.base)
        told = _Told(text, marks, _usage(answer))
        return _whole(body, asked.identity, asked.made, told)
    except Exception as error:  # noqa: BLE001 - said in the shape that these clients read
        return _refused(error)


async def _json(request: Request) -> Any:
    """Raises WrongRequestError."""
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as wrong:
        raise WrongRequestError("The body is no JSON.") from wrong


def _persona(workspace: Workspace, name: str) -> str:
    """Raises WrongRequestError for a model that is not served."""
    own, _, persona = name.partition("/")
    if own != NAME or (persona and persona not in workspace.personas):
        known = ", ".join((NAME, *(f"{NAME}/{one}" for one in workspace.personas)))
        raise WrongRequestError(
            f"The model `{name[:80]}` does not exist. There are: {known}.",
            param="model",
            code="model_not_found",
            status=404,
        )
    return persona or "employee"


def _asked(request: Request, body: ChatRequest, persona: str) -> _Asked:
    """Raises WrongRequestError."""
    *before, last = body.messages
    text = last.text().strip()
    if last.role != "user" or not text:
        raise WrongRequestError(
            "The last message must be a question of the user.", param="messages"
        )
    if len(text) > LONGEST_QUESTION:
        raise WrongRequestError(
            f"A question may have at most {LONGEST_QUESTION:,} characters.", param="messages"
        )
    history: list[Message] = []
    for message in before:
        if message.role == "user" or message.role == "assistant":
            content = message.text()
            if len(content) > LARGEST_MESSAGE:
                raise WrongRequestError(
                    f"A message may have at most {LARGEST_MESSAGE:,} characters.", param="messages"
                )
            if content.strip():
                cut = content[:LONGEST_MESSAGE]
                history.append(Message(role=message.role, content=cut))
    caller = callers.caller_of(request.scope)
    wanted = body.person(persona)
    asker = caller.person(wanted, wanted.model_fields_set)
    question = Question(text=text, asker=asker, history=tuple(history), as_of=body.day())
    return _Asked(
        request=body,
        question=question,
        base=str(request.base_url).rstrip("/"),
        identity=f"chatcmpl-{uuid.uuid4().hex}",
        made=int(time.time()),
    )


class _Told(NamedTuple):
    """What is sent back as a whole."""

    text: str
    marks: list[dict[str, Any]]
    usage: dict[str, int]


def _whole(body: ChatRequest, identity: str, made: int, told: _Told) -> Response:
    message = {
        "role": "assistant",
        "content": told.text,
        "refusal": None,
        "annotations": told.marks,
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return JSONResponse(
        {
            "id": identity,
            "object": "chat.completion",
            "created": made,
            "model": body.model,
            "choices": [choice],
            "usage": told.usage,
        }
    )


def _task(body: ChatRequest, said: str) -> Response:
    identity, made = f"chatcmpl-{uuid.uuid4().hex}", int(time.time())
    if not body.stream:
        return _whole(body, identity, made, _Told(said, [], _usage(None)))
    pieces = [
        _chunk(body, identity, made, {"role": "assistant", "content": said}),
        _chunk(body, identity, made, {}, finish="stop"),
        DONE,
    ]
    return Response("".join(pieces), media_type="text/event-stream")


def _usage(answer: Answer | None) -> dict[str, int]:
    """Of the chat models behind the answer; none without one."""
    into, out = (answer.trace.tokens_in, answer.trace.tokens_out) if answer else (0, 0)
    return {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out}


def _refused(error: Exception) -> Response:
    status, body = error_json(error)
    if status >= 500 and not isinstance(error, OmbudError):
        logger.error("A chat completion failed: %s", type(error).__name__)
    elif isinstance(error, OmbudError) and error.detail:
        logger.error("A chat completion failed: %s %s", error, error.detail)
    headers = {}
    if isinstance(error, TooMuchWork):
        headers["retry-after"] = str(error.retry_after)
    return JSONResponse(body, status_code=status, headers=headers)


# Streaming ----------------------------------------------------------------------------------------


def _chunk(
    body: ChatRequest,
    identity: str,
    made: int,
    delta: dict[str, Any],
    *,
    finish: str | None = None,
) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _data(
        {
            "id": identity,
            "object": "chat.completion.chunk",
            "created": made,
            "model": body.model,
            "choices": [choice],
        }
    )


def _data(content: dict[str, Any]) -> str:
    return f"data: {json.dumps(content, ensure_ascii=False)}\n\n"


async def _stream(
    workspace: Workspace, asked: _Asked, place: OwnPlace
) -> AsyncGenerator[str, None]:
    """Claims as they are proven, then the rest with the annotations. Who goes away ends the
    work."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[tuple[str, Any]]()

    def on_event(name: str, data: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, (name, data))

    async def work() -> None:
        try:
            async with place:
                answer = await asking.ask(workspace, asked.question, on_event=on_event)
            loop.call_soon_threadsafe(queue.put_nowait, ("done", answer))
        except Exception as error:  # noqa: BLE001 - handed on to the reader of the queue
            loop.call_soon_threadsafe(queue.put_nowait, ("failed", error))

    task = asyncio.create_task(work())
    try:
        async for piece in _pieces(asked, queue):
            yield piece
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _pieces(
    asked: _Asked, queue: asyncio.Queue[tuple[str, Any]]
) -> AsyncGenerator[str, None]:
    growing = GrowingText()
    yield _delta(asked, {"role": "assistant", "content": ""})
    while True:
        try:
            name, data = await asyncio.wait_for(queue.get(), PULSE)
        except TimeoutError:
            yield ": waiting\n\n"
            continue
        if name == "claim" and data["early"]:  # else the whole answer is on its way
            cited = list(map(Citation.model_validate, data["citations"]))
            text = growing.claim(data["index"], data["text"], cited)
            if text:
                yield _delta(asked, {"content": text})
        elif name in _LAST:
            for piece in _LAST[name](asked, growing, data):
                yield piece
            yield DONE
            return


def _failed(asked: _Asked, growing: GrowingText, error: Exception) -> Iterator[str]:
    del asked, growing
    _, body = error_json(error)
    yield _data(body)


def _done(asked: _Asked, growing: GrowingText, answer: Answer) -> Iterator[str]:
    rest = growing.rest(message_text(answer))
    marks = annotations(growing.told, answer, asked.question.asker, asked.base)
    if rest or marks:
        yield _delta(asked, {"content": rest, "annotations": marks})
    yield _delta(asked, {}, finish="stop")
    if asked.request.with_usage:
        yield _usage_chunk(asked, answer)


_LAST: dict[str, Callable[[_Asked, GrowingText, Any], Iterator[str]]] = {
    "failed": _failed,
    "done": _done,
}
"""What ends a stream."""


def _delta(asked: _Asked, delta: dict[str, Any], finish: str | None = None) -> str:
    return _chunk(asked.request, asked.identity, asked.made, delta, finish=finish)


def _usage_chunk(asked: _Asked, answer: Answer) -> str:
    return _data(
        {
            "id": asked.identity,
            "object": "chat.completion.chunk",
            "created": asked.made,
            "model": asked.request.model,
            "choices": [],
            "usage": _usage(answer),
        }
    )
