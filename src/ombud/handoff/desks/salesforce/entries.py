"""Converts entries of a Salesforce conversation into desk events."""

from collections.abc import Callable, Mapping
from typing import Any

from ombud.handoff.desks.desk import DeskEvent, DeskLink
from ombud.handoff.desks.salesforce.service import ConversationEntry

ADVISORS = {"Agent", "Supervisor"}
WAITING_WORK = {"Declined", "Cancelled"}
"""Outcomes of offered work after which the conversation waits for the next advisor."""

DeskEvents = list[DeskEvent]


def read_entry(name: str, entry: ConversationEntry) -> DeskEvents:
    """Convert an event of the stream; unknown names give no events."""
    reader = READERS.get(name)
    return reader(entry) if reader else []


def read_listed(entry: ConversationEntry) -> DeskEvents:
    """Convert an entry of the listing."""
    return read_entry(LISTED.get(entry.entryType, ""), entry)


def message_text(payload: Mapping[str, Any]) -> str:
    """Return the text of a message; for a message with choices, the question and its options."""
    message = object_field(payload, "abstractMessage")
    words = text_field(object_field(message, "staticContent"), "text")
    if words:
        return words
    choices = object_field(message, "choices")
    answer = object_field(message, "choicesResponse")
    lines = [
        text_field(choices, "text"),
        text_field(answer, "selectedOptions") or text_field(answer, "text"),
    ]
    options = choices.get("optionItems")
    for option in options if isinstance(options, list) else []:
        title = (
            text_field(object_field(option, "titleItem"), "title")
            if isinstance(option, dict)
            else ""
        )
        lines.append(f"- {title}" if title else "")
    return "\n".join(line for line in lines if line)


def message_links(payload: Mapping[str, Any]) -> tuple[DeskLink, ...]:
    """Return the attached files and the linked page of a message."""
    content = object_field(object_field(payload, "abstractMessage"), "staticContent")
    attachments = content.get("attachments")
    links: list[DeskLink] = []
    for attachment in attachments if isinstance(attachments, list) else []:
        if isinstance(attachment, dict):
            link = DeskLink(name=text_field(attachment, "name"), url=text_field(attachment, "url"))
            links.append(link)
    page = object_field(content, "linkItem")
    if page:
        title = text_field(object_field(page, "titleItem"), "title")
        links.append(DeskLink(kind="link", name=title, url=text_field(page, "url")))
    return tuple(links)


def read_message(entry: ConversationEntry) -> DeskEvents:
    if entry.sender.role == "EndUser":
        return [DeskEvent(kind="echo", entry_id=entry.identifier)]
    text = message_text(entry.entryPayload)
    links = message_links(entry.entryPayload)
    if not text and not links:
        if not object_field(entry.entryPayload, "abstractMessage"):
            return []
        links = (DeskLink(kind="other"),)
    is_automatic = bool(text_field(entry.entryPayload, "messageReason"))
    is_advisor = entry.sender.role in ADVISORS and not is_automatic
    name = entry.senderDisplayName or ""
    kind = "message" if is_advisor else "notice"
    event = DeskEvent(kind=kind, entry_id=entry.identifier, text=text, name=name, links=links)
    return [event]


def read_participants(entry: ConversationEntry) -> DeskEvents:
    events: DeskEvents = []
    changes = entry.entryPayload.get("entries")
    for place, change in enumerate(changes if isinstance(changes, list) else []):
        if not isinstance(change, dict):
            continue
        if text_field(object_field(change, "participant"), "role") not in ADVISORS:
            continue
        kind = {"add": "joined", "remove": "left"}.get(text_field(change, "operation"))
        if kind:
            name = text_field(change, "displayName") or entry.senderDisplayName or ""
            entry_id = f"{entry.identifier}/{place}"
            events.append(
                DeskEvent.model_validate({"kind": kind, "entry_id": entry_id, "name": name})
            )
    return events


def read_routing_result(entry: ConversationEntry) -> DeskEvents:
    failed = text_field(entry.entryPayload, "failureType")
    if failed and failed != "None":
        why = text_field(entry.entryPayload, "failureReason") or failed
        return [DeskEvent(kind="failed", entry_id=entry.identifier, text=why)]
    expected = object_field(entry.entryPayload, "estimatedWaitTime")
    seconds = expected.get("estimatedWaitTimeInSeconds")
    if expected.get("isEWTRequested") is True and isinstance(seconds, int | float) and seconds >= 0:
        return [DeskEvent(kind="position", seconds=float(seconds))]
    return []


def read_work_result(entry: ConversationEntry) -> DeskEvents:
    if text_field(entry.entryPayload, "workType") in WAITING_WORK:
        return [DeskEvent(kind="waiting")]
    return []


def read_queue_position(entry: ConversationEntry) -> DeskEvents:
    position = entry.entryPayload.get("position")
    if isinstance(position, int) and position >= 1:
        return [DeskEvent(kind="position", position=position)]
    return [DeskEvent(kind="waiting")]


def read_session_status(entry: ConversationEntry) -> DeskEvents:
    status = text_field(entry.entryPayload, "sessionStatus")
    if status == "Ended":
        return [DeskEvent(kind="ended", entry_id=entry.identifier)]
    if status == "Error":
        return [DeskEvent(kind="failed", entry_id=entry.identifier, text=status)]
    return [DeskEvent(kind="waiting")] if status == "Waiting" else []


def read_close(entry: ConversationEntry) -> DeskEvents:
    """Report the end that the employee's own side caused."""
    return [DeskEvent(kind="ended", entry_id=entry.identifier)]


def read_typing_started(entry: ConversationEntry) -> DeskEvents:
    return typing_event(entry, is_typing=True)


def read_typing_stopped(entry: ConversationEntry) -> DeskEvents:
    return typing_event(entry, is_typing=False)


def typing_event(entry: ConversationEntry, *, is_typing: bool) -> DeskEvents:
    if entry.sender.role not in ADVISORS:
        return []
    return [DeskEvent(kind="typing", name=entry.senderDisplayName or "", is_typing=is_typing)]


def read_acknowledgement(entry: ConversationEntry) -> DeskEvents:
    read = text_field(entry.entryPayload, "acknowledgedConversationEntryIdentifier")
    return [DeskEvent(kind="read", entry_id=read)] if read else []


def object_field(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = payload.get(key)
    return value if isinstance(value, dict) else {}


def text_field(payload: Mapping[str, Any], key: str) -> str:
    """Return a text field, stripped; empty if it is missing or no text."""
    value = payload.get(key)
    return value.strip() if isinstance(value, str) else ""


READERS: Mapping[str, Callable[[ConversationEntry], DeskEvents]] = {
    "CONVERSATION_MESSAGE": read_message,
    "CONVERSATION_PARTICIPANT_CHANGED": read_participants,
    "CONVERSATION_ROUTING_RESULT": read_routing_result,
    "CONVERSATION_ROUTING_WORK_RESULT": read_work_result,
    "CONVERSATION_QUEUE_POSITION": read_queue_position,
    "CONVERSATION_SESSION_STATUS_CHANGED": read_session_status,
    "CONVERSATION_TYPING_STARTED_INDICATOR": read_typing_started,
    "CONVERSATION_TYPING_STOPPED_INDICATOR": read_typing_stopped,
    "CONVERSATION_READ_ACKNOWLEDGEMENT": read_acknowledgement,
    "CONVERSATION_CLOSE_CONVERSATION": read_close,
}
"""Name of a stream event -> its converter. Other events are ignored, such as
CONVERSATION_DELIVERY_ACKNOWLEDGEMENT, because the echo confirms delivery."""
LISTED: Mapping[str, str] = {
    "Message": "CONVERSATION_MESSAGE",
    "ParticipantChanged": "CONVERSATION_PARTICIPANT_CHANGED",
    "RoutingResult": "CONVERSATION_ROUTING_RESULT",
}
"""Type of a listed entry -> name of the same event in the stream."""
