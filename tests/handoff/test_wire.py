"""Addresses of desks, and when they want to be asked again."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from ombud.deadlines import retry_after
from ombud.errors import BadSetting
from ombud.handoff.desks.wire import check_address


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("1.5", 1.5),
    ],
)
def test_when_to_ask_again(value: str, seconds: float | None) -> None:
    assert retry_after(httpx.Headers({"retry-after": value})) == seconds


def test_a_date_says_it_as_well() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    seconds = retry_after(httpx.Headers({"retry-after": later}))
    assert seconds is not None
    assert 0 < seconds <= 3600


def test_an_address_ends_without_a_slash() -> None:
    assert (
        check_address(" https://desk.example.org/x/ ", "a.url", "") == "https://desk.example.org/x"
    )


@pytest.mark.parametrize(
    "url",
    ["", "desk.example.org", "ftp://desk.example.org", "http://", "https://desk.example.org:port"],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(BadSetting, match=r"a\.url") as wrong:
        check_address(url, "a.url", "https://desk.example.org")
    assert "https://desk.example.org" in wrong.value.hint
