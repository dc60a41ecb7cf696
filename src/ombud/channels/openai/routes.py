"""`/v1/chat/completions` and `/v1/models`. The last user message is the question and earlier
messages are its history; system messages are ignored, because answers come from the documents
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
    TextLimit,
    WrongRequestError,
    error_json,
)
from ombud.channels.openai.tasks import task_reply
from ombud.channels.openai.wording import GrowingText, annotations, message_text
from ombud.channels.places import OwnPlace
from ombud.errors import OmbudError, TooMuchWork
from ombud.types import LONGEST_MESSAGE, Answer, Citation, Message, Question

NAME = "ombud"
"""Name of the model; `ombud/PERSONA` selects a persona."""
PULSE = 15.0
"""Seconds of silence after which a comment is sent, so that no proxy closes the connection."""
DONE = "data: [DONE]\n\n"
logger = logging.getLogger(__name__)
router = APIRouter(include_in_schema=False)


class Completion(NamedTuple):
    """A request that was validated, with the id and the time of its completion."""

    request: ChatRequest
    question: Question
    limit: TextLimit
    base: str
    stamp: dict[str, Any]


@router.get("/v1/models")
def models(request: Request) -> dict[str, Any]:
    workspace: Workspace = request.app.state.workspace
    names = [NAME, *(f"{NAME}/{persona}" for persona in workspace.personas)]
    return {"object": "list", "data": list(map(model_json, names))}


@router.get("/v1/models/{name:path}")
def model(name: str, request: Request) -> Response:
    try:
        persona_of(request.app.state.workspace, name)
    except WrongRequestError as wrong:
        return error_response(wrong)
    return JSONResponse(model_json(name))


def model_json(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": NAME}


@router.post("/v1/chat/completions")
async def complete(request: Request) -> Response:
    workspace: Workspace = request.app.state.workspace
    try:
        body = ChatRequest.model_validate(await parse_body(request))
        persona = persona_of(workspace, body.model)
        limit = body.limit()
        task_text = task_reply(body.messages)
        if task_text:
            return task_response(body, task_text)
        completion = read_request(request, body, persona, limit)
        place = place_of(request, completion)
        if body.stream:
            pieces = stream_answer(workspace, completion, place, answer_pieces)
            return StreamingResponse(pieces, media_type="text/event-stream")
        async with place:
            answer = await asking.ask(workspace, completion.question)
        text = completion.limit.take(message_text(answer), is_last=True)
        marks = annotations(text, answer, completion.question.asker, completion.base)
        finish = completion.limit.ended or "stop"
        return whole_response(completion.stamp, text, marks, usage_of(answer), finish)
    except Exception as error:  # noqa: BLE001 - reported in the format of these clients
        return error_response(error)


def place_of(request: Request, completion: Completion) -> OwnPlace:
    """Return the place that a question waits for. Raises TooMuchWork."""
    account = callers.caller_of(request.scope).key
    owner = account or completion.question.asker.id
    address = request.client.host if request.client else ""
    place: OwnPlace = request.app.state.places.of(owner, account or address)
    place.check()
    return place


async def parse_body(request: Request) -> Any:
    """Parse the body. Raises WrongRequestError."""
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as wrong:
        raise WrongRequestError("The body is no JSON.") from wrong


def persona_of(workspace: Workspace, name: str) -> str:
    """Return the persona of a model name. Raises WrongRequestError for an unknown one."""
    own, _, persona = name.partition("/")
    if own != NAME or (persona and persona not in workspace.personas):
        names = ", ".join((NAME, *(f"{NAME}/{one}" for one in workspace.personas)))
        raise WrongRequestError(
            f"The model `{name[:80]}` does not exist. There are: {names}.",
            param="model",
            code="model_not_found",
            status=404,
        )
    return persona or "employee"


def read_request(request: Request, body: ChatRequest, persona: str, limit: TextLimit) -> Completion:
    """Build the question from the messages. Raises WrongRequestError."""
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
    stated = body.person(persona)
    asker = caller.person(stated, stated.model_fields_set)
    question = Question(text=text, asker=asker, history=tuple(history), as_of=body.day())
    public = request.app.state.workspace.settings.server.public_url
    return Completion(
        request=body,
        question=question,
        limit=limit,
        base=public or str(request.base_url).rstrip("/"),
        stamp=new_stamp(body),
    )


def new_stamp(body: ChatRequest) -> dict[str, Any]:
    """Make the id and the time that every part of a completion repeats."""
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "created": int(time.time()),
        "model": body.model,
    }


def whole_response(
    stamp: dict[str, Any],
    text: str,
    marks: list[dict[str, Any]],
    usage: dict[str, int],
    finish: str = "stop",
) -> Response:
    message = {"role": "assistant", "content": text, "refusal": None, "annotations": marks}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return JSONResponse({**stamp, "object": "chat.completion", "choices": [choice], "usage": usage})


def task_response(body: ChatRequest, text: str) -> Response:
    stamp = new_stamp(body)
    if not body.stream:
        return whole_response(stamp, text, [], usage_of(None))
    pieces = [
        chunk_line(stamp, {"role": "assistant", "content": text}),
        chunk_line(stamp, {}, finish="stop"),
        DONE,
    ]
    return Response("".join(pieces), media_type="text/event-stream")


def usage_of(answer: Answer | None) -> dict[str, int]:
    """Return the tokens that chat models used for the answer; zeros without one."""
    into, out = (answer.trace.tokens_in, answer.trace.tokens_out) if answer else (0, 0)
    return {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out}


def error_response(error: Exception) -> Response:
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


def chunk_line(stamp: dict[str, Any], delta: dict[str, Any], *, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return data_line({**stamp, "object": "chat.completion.chunk", "choices": [choice]})


def data_line(content: dict[str, Any]) -> str:
    return f"data: {json.dumps(content, ensure_ascii=False)}\n\n"


Writer = Callable[[Completion, "asyncio.Queue[tuple[str, Any]]"], AsyncGenerator[str, None]]
"""Writes an endpoint's events of what happens to an answer: `claim`, `failed` or `done`."""


async def stream_answer(
    workspace: Workspace, completion: Completion, place: OwnPlace, write: Writer
) -> AsyncGenerator[str, None]:
    """Stream claims as they are proven, then the rest with the annotations; cancel the work if the
    client disconnects."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[tuple[str, Any]]()

    def on_event(name: str, data: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, (name, data))

    async def work() -> None:
        try:
            async with place:
                answer = await asking.ask(workspace, completion.question, on_event=on_event)
            loop.call_soon_threadsafe(queue.put_nowait, ("done", answer))
        except Exception as error:  # noqa: BLE001 - passed to the reader of the queue
            loop.call_soon_threadsafe(queue.put_nowait, ("failed", error))

    task = asyncio.create_task(work())
    try:
        async for piece in write(completion, queue):
            yield piece
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def text_steps(
    completion: Completion, queue: asyncio.Queue[tuple[str, Any]]
) -> AsyncGenerator[tuple[str, Any], None]:
    """Yield (`waiting`, a comment), (`text`, what may be sent of the answer), and at the end
    (`failed`, the error) or (`done`, the rest of the text and the answer)."""
    growing = GrowingText()
    limit = completion.limit
    while True:
        try:
            name, data = await asyncio.wait_for(queue.get(), PULSE)
        except TimeoutError:
            yield "waiting", ": waiting\n\n"
            continue
        if name == "claim" and data["early"]:  # otherwise the whole answer follows
            cited = list(map(Citation.model_validate, data["citations"]))
            if text := limit.take(growing.claim(data["index"], data["text"], cited)):
                yield "text", text
        elif name == "failed":
            yield "failed", data
            return
        elif name == "done":
            yield "done", (limit.take(growing.rest(message_text(data)), is_last=True), data)
            return


async def answer_pieces(
    completion: Completion, queue: asyncio.Queue[tuple[str, Any]]
) -> AsyncGenerator[str, None]:
    yield chunk_line(completion.stamp, {"role": "assistant", "content": ""})
    async for step, content in text_steps(completion, queue):
        if step == "waiting":
            yield content
        elif step == "text":
            yield chunk_line(completion.stamp, {"content": content})
        elif step == "failed":
            yield data_line(error_json(content)[1])
        else:
            for piece in last_pieces(completion, *content):
                yield piece
    yield DONE


def last_pieces(completion: Completion, rest: str, answer: Answer) -> Iterator[str]:
    limit = completion.limit
    marks = annotations(limit.sent, answer, completion.question.asker, completion.base)
    if rest or marks:
        yield chunk_line(completion.stamp, {"content": rest, "annotations": marks})
    yield chunk_line(completion.stamp, {}, finish=limit.ended or "stop")
    if completion.request.with_usage:
        chunk = {**completion.stamp, "object": "chat.completion.chunk", "choices": []}
        yield data_line({**chunk, "usage": usage_of(answer)})
