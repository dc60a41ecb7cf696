"""Who says hello or thank you is answered in kind, and nothing is looked up for them."""

import pytest

from ombud.answer.triage.phrases import pleasantry_of


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hi", "greeting"),
        ("Hello there!", "greeting"),
        ("good morning, how are you?", "greeting"),
        ("thanks", "thanks"),
        ("Thank you so much!!! :)", "thanks"),
        ("ok great", "thanks"),
        ("great, that’s all", "farewell"),
        ("thanks, bye", "farewell"),
        ("No, thanks", "farewell"),
        ("help", "about"),
        ("who are you", "about"),
        ("Hi, are you a bot?", "about"),
        ("what can you do?", "about"),
        ("hello I have a question", "about"),
        ("Hallo zusammen", "greeting"),
        ("Vielen Dank!", "thanks"),
        ("bonjour, comment ça va ?", "greeting"),
        ("Merci beaucoup", "thanks"),
        ("¡Hola! ¿Qué tal?", "greeting"),
        ("muchas gracias", "thanks"),
    ],
)
def test_what_is_said_to_somebody(text: str, kind: str) -> None:
    found = pleasantry_of(text)
    assert found
    assert found.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "hi, how much leave do I get",
        "thanks, and for part-timers?",
        "ok and what if I leave?",
        "yes",
        "yes please",
        "all",
        "no",
        "morning shift",
        "thank you card for a colleague",
        "help with childcare costs",
        "great britain",
        "test results",
        "can you help me with my tax",
        "who are you to tell me that my leave is refused",
        "",
        "!!!",
        "help " * 200,
    ],
)
def test_what_is_asked_for(text: str) -> None:
    assert pleasantry_of(text) is None
