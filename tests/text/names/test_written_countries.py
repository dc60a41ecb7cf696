"""What people write into a field for a country."""

import pytest

from ombud.errors import BadRequest
from ombud.text import country_list, read_country


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("Great Britain", "GB"),
        ("england", "GB"),
        (" United  Kingdom ", "GB"),
        ("Großbritannien", "GB"),
        ("uk", "GB"),
        ("gb", "GB"),
        ("Greece", "GR"),
        ("Deutschland", "DE"),
        ("España", "ES"),
        ("Türkei", "TR"),
        ("Turkey", "TR"),
        ("Chad", "TD"),
        ("Kazakhstan", "KZ"),
        ("Kasachstan", "KZ"),
        ("Côte d’Ivoire", "CI"),
        ("Ivory Coast", "CI"),
        ("Trinidad and Tobago", "TT"),
        ("Saint Lucia", "LC"),
        ("Island", "IS"),
        ("guinea", "GN"),
        ("", ""),
        ("  ", ""),
    ],
)
def test_names_and_codes_are_read(written: str, code: str) -> None:
    assert read_country(written) == code


@pytest.mark.parametrize("written", ["EN", "XX", "EU", "Great", "Germany and France", "G", "12"])
def test_what_is_no_country_is_never_guessed(written: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read_country(written)
    assert "GB" in refused.value.hint


def test_a_slip_is_asked_about() -> None:
    with pytest.raises(BadRequest) as refused:
        read_country("Germny")
    assert refused.value.hint.startswith("Did you mean Germany?")


def test_every_name_of_the_list_is_read_as_its_code() -> None:
    assert len(country_list()) == 250  # of ISO 3166-1, and Kosovo
    for code, name in country_list().items():
        assert (read_country(name), read_country(code)) == (code, code)
