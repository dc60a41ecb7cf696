"""When a person takes over, where advisors work, and when they are there: `[handoff]`,
`[tickets]` and `[mail]`."""

import re
from datetime import date, time
from typing import Any

from pydantic import Field, field_validator, model_validator

from ombud.settings.sections import Section, by_country

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOURS = re.compile(r"^(?:([a-z]{3})(?:-([a-z]{3}))? )?(\d\d:\d\d)-(\d\d:\d\d)$")


def opening_times(written: str) -> dict[int, tuple[time, time]]:
    """Parse `mon-fri 09:00-17:00, sat 10:00-12:00` into opening and closing time by weekday (Monday
    = 0); a span without days holds for every day. Raises ValueError."""
    times: dict[int, tuple[time, time]] = {}
    for span in written.lower().split(","):
        match = _HOURS.match(" ".join(span.split()))
        if not match:
            raise ValueError(f"`{span.strip()}` is not written like mon-fri 09:00-17:00")
        first, last, opens, closes = match.groups()
        begin, end = time.fromisoformat(opens), time.fromisoformat(closes)
        if begin >= end:
            raise ValueError(f"`{span.strip()}` ends before it begins")
        for day in parse_days(first, last):
            times[day] = (begin, end)
    return times


def parse_days(first: str | None, last: str | None) -> list[int]:
    if first is None:
        return list(range(7))
    for name in (first, last or first):
        if name not in DAYS:
            raise ValueError(f"`{name}` is no day; the days are {', '.join(DAYS)}")
    begin = DAYS.index(first)
    count = (DAYS.index(last or first) - begin) % 7 + 1
    return [(begin + day) % 7 for day in range(count)]


class AdvisorSettings(Section):
    id: str = Field(min_length=1, max_length=100, description="Name to sign in with.")
    name: str = Field(min_length=1, max_length=100, description="As employees are shown it.")
    mail: str = Field("", description="Told here of who waits, while away from the desk.")
    topics: tuple[str, ...] = Field((), description="Topics this person takes; empty = all.")
    countries: tuple[str, ...] = Field((), description="Countries this person takes; empty = all.")

    @field_validator("countries", mode="after")
    @classmethod
    def _country_codes(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(by_country(dict.fromkeys(codes)))


class CountryHandoff(Section):
    """The handoff settings of one country."""

    hours: str | None = Field(None, description="Working hours there.")
    closed: tuple[date, ...] | None = Field(None, description="Days off there.")
    always: tuple[str, ...] | None = Field(
        None, description="Topics whose questions are always offered a person."
    )
    never: tuple[str, ...] | None = Field(
        None, description="Reasons for which no person is offered."
    )


class SalesforceSettings(Section):
    url: str = Field("", description="https://DOMAIN.my.salesforce-scrt.com of the organisation.")
    organisation: str = Field("", description="Organisation id, 15 or 18 characters.")
    deployment: str = Field("", description="Developer name of the embedded service deployment.")
    key_env: str = Field(
        "",
        description="Environment variable with the private key (RSA, PEM) that signs a token for "
        "each person (User Verification there); empty = nobody signs in there.",
    )
    key_id: str = Field("", description="Id (`kid`) of that key in the key set there.")
    issuer: str = Field("ombud", description="Issuer (`iss`) of the tokens in the key set there.")
    routing: dict[str, str] = Field(
        {"reason": "reason", "country": "country", "topic": "topic"},
        description="What we know of a hand-over -> the routing attribute that carries it.",
    )


class WebhookSettings(Section):
    url: str = Field("", description="Where what happens is posted.")
    secret_env: str = Field(
        "WEBHOOK_SECRET", description="Environment variable with the secret that both ways sign by."
    )


class NotifySettings(Section):
    url: str = Field("", description="Posted to when somebody waits and no advisor is at the desk.")
    secret_env: str = Field(
        "NOTIFY_SECRET", description="Environment variable with the secret that it is signed by."
    )


class HandoffSettings(Section):
    desk: str = Field(
        "desk",
        description="Where advisors work: desk (built in), salesforce, webhook, or the name of a "
        "plugin's, such as matrix; none = answers name a contact.",
    )
    hours: str = Field(
        "", description="Working hours, such as mon-fri 09:00-17:00; empty = at all times."
    )
    closed: tuple[date, ...] = Field((), description="Days off, such as 2026-12-25.")
    unclaimed_minutes: int = Field(
        10, ge=1, description="A hand-over that nobody takes for so long names the contact instead."
    )
    first_response_minutes: int | None = Field(
        None,
        ge=1,
        description="Target for the first message of an advisor, in working hours after the "
        "hand-over; the desk shows what is left of it. None = no target.",
    )
    denials: int = Field(
        2, ge=1, description="Questions in a row without an answer after which a person is offered."
    )
    always: tuple[str, ...] = Field(
        (), description="Topics whose questions are always offered a person."
    )
    never: tuple[str, ...] = Field((), description="Reasons for which no person is offered.")
    replies: str = Field(
        "replies.toml", description="File of canned replies, relative to the workspace."
    )
    country: dict[str, CountryHandoff] = Field(
        {}, description="What differs in a country: [handoff.country.GB]."
    )
    advisor: tuple[AdvisorSettings, ...] = Field(
        (), description="Who works at the desk: [[handoff.advisor]]; none = whoever opens it."
    )
    notify: NotifySettings = Field(NotifySettings(), description="Who is told that somebody waits.")
    salesforce: SalesforceSettings = Field(
        SalesforceSettings(), description="Messaging for In-App and Web of Salesforce."
    )
    matrix: dict[str, Any] = Field(
        {}, description="A Matrix homeserver; the package ombud-matrix reads these."
    )
    webhook: WebhookSettings = Field(WebhookSettings(), description="Any other system.")
    options: dict[str, Any] = Field({}, description="Settings of a plugin's desk.")

    _codes = field_validator("country", mode="before")(by_country)

    @model_validator(mode="after")
    def _readable_hours(self) -> "HandoffSettings":
        for written in (self.hours, *(one.hours for one in self.country.values())):
            if written:
                opening_times(written)
        ids = [advisor.id for advisor in self.advisor]
        if len(set(ids)) < len(ids):
            raise ValueError("two [[handoff.advisor]] entries have the same id")
        return self


class MailSettings(Section):
    host: str = Field("", description="SMTP server; empty = no mail is sent.")
    port: int = Field(587, ge=1, le=65535, description="Its port.")
    security: str = Field(
        "starttls", pattern="^(starttls|tls|none)$", description="starttls, tls or none."
    )
    user: str = Field("", description="Account; empty = none is needed.")
    password_env: str = Field(
        "SMTP_PASSWORD", description="Environment variable with its password."
    )
    sender: str = Field("", description="Address that mails come from.")


class TicketSettings(Section):
    """The ticket system that takes requests out of hours or by choice."""

    system: str = Field(
        "",
        description="servicenow, jira (Jira Service Management), zendesk, or the name of a "
        "plugin's; empty = none.",
    )
    url: str = Field("", description="Its address, such as https://example.service-now.com.")
    team: str = Field("HR", description="Who answers there, as employees are told.")
    user: str = Field(
        "",
        description="Account that signs in by password or API token; empty = `client`, or the "
        "secret is a token by itself.",
    )
    client: str = Field(
        "", description="Id of an OAuth client with client credentials, in place of `user`."
    )
    token_url: str = Field(
        "", description="Where the OAuth client gets its token; empty = the system's own address."
    )
    secret_env: str = Field(
        "TICKETS_SECRET",
        description="Environment variable with the password, API token or client secret.",
    )
    webhook_env: str = Field(
        "TICKETS_WEBHOOK_SECRET",
        description="Environment variable with the secret that Jira or Zendesk signs webhooks by.",
    )
    queue: str = Field(
        "",
        description="ServiceNow: table, empty = sn_hr_core_case; Jira: id of the service desk; "
        "Zendesk: id of the group, empty = as its triggers decide.",
    )
    request_type: str = Field("", description="Jira: id of the request type.")
    fields: dict[str, str] = Field(
        {}, description="Further fields of a new ticket, such as hr_service of ServiceNow."
    )
    link: str = Field(
        "",
        description="Address of a ticket for employees, with {number} and {id}; empty = the "
        "system's own portal.",
    )
    poll_seconds: float = Field(
        60.0, gt=0, description="Seconds between two looks at a ticket; longer while it is quiet."
    )
    settle_seconds: float = Field(
        30.0,
        ge=0,
        description="Seconds after a lost reply until what the system does not list is sent again.",
    )
    timeout_seconds: float = Field(15.0, gt=0, description="Longest wait for a reply.")
