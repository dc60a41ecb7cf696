"""Secrets in files, as containers mount them."""

from pathlib import Path

import pytest

from ombud.errors import BadSetting
from ombud.settings import load
from ombud.settings.secret_files import read_secret_files


def test_a_file_stands_for_the_variable(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret=\n")
    environment = {
        "OPENAI_API_KEY_FILE": str(secret),
        "OMBUD_STORE__URL_FILE": str(secret),
        "OIDC_CLIENT_SECRET_FILE": str(secret),
        "OIDC_CLIENT_SECRET": "set already",
        "SSL_CERT_FILE": "/etc/ssl/cert.pem",
    }
    read_secret_files(environment)
    assert environment == {
        "OPENAI_API_KEY_FILE": str(secret),
        "OPENAI_API_KEY": "s3cret=",
        "OMBUD_STORE__URL": "s3cret=",
        "OIDC_CLIENT_SECRET_FILE": str(secret),
        "OIDC_CLIENT_SECRET": "set already",
        "SSL_CERT_FILE": "/etc/ssl/cert.pem",
    }


def test_a_file_that_is_not_there_is_said_without_its_place(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="CONFLUENCE_TOKEN_FILE names a file that cannot be read"):
        read_secret_files({"CONFLUENCE_TOKEN_FILE": str(tmp_path / "none")})


def test_settings_are_read_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = tmp_path / "name"
    name.write_text("Acme\n")
    monkeypatch.setenv("OMBUD_GENERAL__NAME", "undone afterwards")
    monkeypatch.delenv("OMBUD_GENERAL__NAME")
    monkeypatch.setenv("OMBUD_GENERAL__NAME_FILE", str(name))
    assert load(None).general.name == "Acme"
