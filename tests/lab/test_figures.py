from math import nan

import pytest

from ombud.lab.report.figures import format_figure


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.7179, "0-1", "72 %"),
        (1.0, "%", "100 %"),
        (0.999, "%", "99.9 %"),
        (0.0004, "%", "0.04 %"),
        (0.0, "%", "0 %"),
        (-0.1987, "points", "−19.9"),
        (0.042, "points", "+4.2"),
        (0.0001, "points", "0.0"),
        (0.4242, "seconds", "0.42 s"),
        (12.34, "seconds", "12.3 s"),
        (240.0, "seconds", "240 s"),
        (1234.0, "tokens", "1,234"),
        (3.14159, "words", "3.14"),
        (0.00123, "US dollars", "$0.0012"),
        (0.0, "US dollars", "$0.00"),
        (None, "%", "–"),
        (nan, "", "–"),
    ],
)
def test_figures_are_written_for_people(value: float | None, unit: str, said: str) -> None:
    assert format_figure(value, unit).replace("\N{NO-BREAK SPACE}", " ") == said
