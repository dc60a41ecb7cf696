"""Signatures of Standard Webhooks: made as others make them, and refused where something is off."""

import base64
import hashlib
import hmac
import json

import pytest

from ombud.errors import BadRequest, BadSetting
from ombud.handoff.signatures import (
    TOLERANCE_SECONDS,
    BadSignature,
    sign_webhook,
    signing_key,
    verify_webhook,
)

# The test vector of the standard's own libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID, NOW = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setenv("TEST_SECRET", SECRET)
    return signing_key("TEST_SECRET")


def test_the_published_vector(key: bytes) -> None:
    headers = sign_webhook(ID, BODY, key, NOW + 0.9)
    assert headers == {
        "webhook-id": ID,
        "webhook-timestamp": str(NOW),
        "webhook-signature": SIGNATURE,
    }
    assert verify_webhook(headers, BODY, key, NOW) == {"test": 2432232314}


def test_words_of_any_script_are_signed_byte_for_byte(key: bytes) -> None:
    body = json.dumps({"text": "Grüße 🏡"}, ensure_ascii=False).encode()
    digest = hmac.new(key, b"id-1.1614265330." + body, hashlib.sha256).digest()
    headers = sign_webhook("id-1", body, key, NOW)
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert verify_webhook(headers, body, key, NOW) == {"text": "Grüße 🏡"}


def test_while_a_secret_is_changed_one_of_two_signatures_is_enough(key: bytes) -> None:
    headers = sign_webhook(ID, BODY, key, NOW)
    headers["webhook-signature"] = f"v1a,other v1,wrong {SIGNATURE}"
    assert verify_webhook(headers, BODY, key, NOW)


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "v1",
        "v1,",
        SIGNATURE.replace("v1,", "v2,"),
        SIGNATURE.removeprefix("v1,"),
        SIGNATURE[:-1],
        SIGNATURE.swapcase(),
        "v1,ärger",
    ],
)
def test_another_signature_is_refused(signature: str, key: bytes) -> None:
    headers = sign_webhook(ID, BODY, key, NOW) | {"webhook-signature": signature}
    with pytest.raises(BadSignature) as refused:
        verify_webhook(headers, BODY, key, NOW)
    assert refused.value.status == 401


@pytest.mark.parametrize(
    "changed",
    [
        {"webhook-id": "msg_other"},
        {"webhook-id": ""},
        {"webhook-timestamp": str(NOW + 1)},
        {"webhook-timestamp": ""},
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": "٣"},
        {"webhook-timestamp": "9" * 5000},
    ],
)
def test_what_is_signed_cannot_be_changed(changed: dict[str, str], key: bytes) -> None:
    headers = sign_webhook(ID, BODY, key, NOW) | changed
    with pytest.raises(BadSignature):
        verify_webhook(headers, BODY, key, NOW)


def test_a_body_that_was_changed_is_refused(key: bytes) -> None:
    headers = sign_webhook(ID, BODY, key, NOW)
    with pytest.raises(BadSignature):
        verify_webhook(headers, BODY + b" ", key, NOW)


def test_another_secret_is_refused(key: bytes) -> None:
    with pytest.raises(BadSignature):
        verify_webhook(sign_webhook(ID, BODY, b"x" * 32, NOW), BODY, key, NOW)


@pytest.mark.parametrize("away", [-1, 1])
def test_an_old_request_is_refused_and_so_is_one_of_the_future(away: int, key: bytes) -> None:
    headers = sign_webhook(ID, BODY, key, NOW)
    assert verify_webhook(headers, BODY, key, NOW + away * TOLERANCE_SECONDS)
    with pytest.raises(BadSignature, match="5 minutes"):
        verify_webhook(headers, BODY, key, NOW + away * (TOLERANCE_SECONDS + 1))


@pytest.mark.parametrize("body", [b"", b"[]", b'"text"', b"{", b"\xff\xfe", b"null"])
def test_a_body_that_says_nothing_is_no_request(body: bytes, key: bytes) -> None:
    with pytest.raises(BadRequest, match="no JSON object"):
        verify_webhook(sign_webhook(ID, body, key, NOW), body, key, NOW)


def test_a_secret_may_stand_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SECRET", "  a plain secret of enough bytes \n")
    assert signing_key("TEST_SECRET") == b"a plain secret of enough bytes"


@pytest.mark.parametrize("secret", ["", " ", "short", "whsec_", "whsec_c2hvcnQ=", "whsec_no base"])
def test_a_secret_that_is_none(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SECRET", secret)
    with pytest.raises(BadSetting, match="TEST_SECRET") as wrong:
        signing_key("TEST_SECRET")
    assert "openssl" in wrong.value.hint
