"""Passwords and tokens inside addresses, in the shapes in which people write them."""

import pytest

from ombud import errors
from ombud.masking import mask_secrets, mask_values


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (
            "postgresql+psycopg://ann:s3cret@db.example:5432/ombud?sslmode=require",
            "postgresql+psycopg://ann:***@db.example:5432/ombud?sslmode=require",
        ),
        ("postgresql://ann:s%403cret@db.example/ombud", "postgresql://ann:***@db.example/ombud"),
        # As it should not be written, and is.
        ("postgresql://ann:s3@c/r:e?t#@db.example/x", "postgresql://ann:***@db.example/x"),
        ("postgresql://ann:s3'c\"ret@db.example/x", "postgresql://ann:***@db.example/x"),
        ("postgresql://:s3cret@/ombud", "postgresql://:***@/ombud"),
        ("postgresql://ann:12345@db.example/x", "postgresql://ann:***@db.example/x"),
        (
            "postgresql:///ombud?host=/run&user=ann&password=s3cret&sslmode=require",
            "postgresql:///ombud?host=/run&user=ann&password=***&sslmode=require",
        ),
        ("postgresql://db/ombud?sslpassword=s3cret", "postgresql://db/ombud?sslpassword=***"),
        ("host=db user=ann password='s3 cret' port=5", "host=db user=ann password=*** port=5"),
        # Where a name stands alone it is a token.
        ("https://sk-s3cret@models.example/v1", "https://***@models.example/v1"),
        ("https://s3cret:x-oauth-basic@git.example/x", "https://***@git.example/x"),
        ("wss://ann:s3cret@[::1]:8080/live", "wss://***@[::1]:8080/live"),
        ("HTTP://ann:s3cret@HOST", "HTTP://***@HOST"),
        (
            "https://models.example/v1?api_key=s3cret&x=1",
            "https://models.example/v1?api_key=***&x=1",
        ),
        (
            "https://models.example/v1?x=1&api-key=s3cret",
            "https://models.example/v1?x=1&api-key=***",
        ),
        ("https://models.example/v1?key=s3cret", "https://models.example/v1?key=***"),
        (
            "https://milvus.example:19530?token=root:s3cret",
            "https://milvus.example:19530?token=***",
        ),
        ("https://x.example/#access_token=s3.cr-et_", "https://x.example/#access_token=***"),
        ("https://x.example/?clientSecret=s3cret", "https://x.example/?clientSecret=***"),
        (
            "https://blob.example/c?sv=2024-01-01&sig=s3cr%2Bet%3D&se=1",
            "https://blob.example/c?sv=2024-01-01&sig=***&se=1",
        ),
        (
            "https://s3.example/x?X-Amz-Credential=s3c/ret&X-Amz-Date=1&X-Amz-Signature=s3cret",
            "https://s3.example/x?X-Amz-Credential=***&X-Amz-Date=1&X-Amz-Signature=***",
        ),
        (
            "401 for url 'https://ann:s3cret@h/v1' and 'https://h/?token=s3cret', see b@c.example",
            "401 for url 'https://***@h/v1' and 'https://h/?token=***', see b@c.example",
        ),
    ],
)
def test_what_is_secret_is_masked_and_nothing_else(text: str, masked: str) -> None:
    assert mask_secrets(text) == masked
    assert mask_secrets(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "postgresql+psycopg://ann@db.example/ombud",
        "sqlite:////home/ann/store.sqlite?timeout=0",
        "http://127.0.0.1:8080/v1",
        "http://[::1]:8080/v1 or http://localhost:80, ask ann@example.org",
        "https://wiki.example:8443/@ann/Leave?keyword=pay&tokens=3&design=2",
        "https://site.example/a?page=2#key-dates",
        "Mail people@example.org: the answer is at https://site.example.",
        "You should never share your password.",
        "models.base_url and store.url are addresses: see `ombud settings`.",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert mask_secrets(text) == text


def test_values_inside_of_others_are_masked_too() -> None:
    told = {"a": ["http://u:s3cret@h", 3, None], "b": {"c": ("x?token=s3cret",)}}
    assert mask_values(told) == {"a": ["http://***@h", 3, None], "b": {"c": ["x?token=***"]}}


def test_no_error_repeats_a_password() -> None:
    error = errors.SourceError("https://u:s3cret@h is down.", hint="Is h?token=s3cret right?")
    assert (str(error), error.hint) == ("https://***@h is down.", "Is h?token=*** right?")
    assert "s3cret" not in repr(error)


@pytest.mark.parametrize("password", ["12/x", "1234?x", "5432#a", "80"])
def test_a_password_that_begins_like_a_port_is_masked(password: str) -> None:
    assert mask_secrets(f"postgresql://u:{password}@h/db") == "postgresql://u:***@h/db"
