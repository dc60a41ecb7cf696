"""Passages that say the same take one place."""

from ombud.retrieve.copies import without_copies
from ombud.types import Chunk, Hit

RULE = (
    "Employers must publish the date and a summary of the most recent bias audit on their website "
    "before they use a tool that decides on people, and keep the summary there for six months "
    "after they last used it."
)


def hit(name: str, text: str, score: float, countries: tuple[str, ...] = ()) -> Hit:
    chunk = Chunk(
        id=f"{name}-0",
        document_id=name,
        title=name.capitalize(),
        uri=f"{name}.pdf",
        text=text,
        start=0,
        end=len(text),
        countries=countries,
    )
    return Hit(chunk=chunk, score=score)


def test_a_copy_stands_under_what_it_repeats_and_leaves_its_place_to_another() -> None:
    rule = hit("rule", RULE, 0.9)
    copy = hit("code", f"Section 3. {RULE}", 0.8)
    other = hit("penalties", "A violation costs 500 dollars on the first day of use.", 0.7)
    kept = without_copies([rule, copy, other], 2)
    assert [one.chunk.uri for one in kept] == ["rule.pdf", "penalties.pdf"]
    assert [one.uri for one in kept[0].copies] == ["code.pdf"]
    assert kept[0].copies[0].title == "Code"


def test_another_figure_is_no_copy() -> None:
    first = hit("gb", RULE, 0.9)
    second = hit("fr", RULE.replace("six months", "6 months and 12 days"), 0.8)
    assert len(without_copies([first, second], 8)) == 2


def test_a_countrys_own_page_is_no_copy_of_the_global_one() -> None:
    everywhere = hit("global", RULE, 0.9)
    local = hit("gb", RULE, 0.8, ("GB",))
    assert len(without_copies([everywhere, local], 8)) == 2
    assert len(without_copies([local, everywhere], 8)) == 1


def test_a_passage_that_goes_on_is_kept() -> None:
    longer = f"{RULE} {' '.join(f'word{n}' for n in range(60))}"
    assert len(without_copies([hit("a", RULE, 0.9), hit("b", longer, 0.8)], 8)) == 2
    # The other way round it says nothing that the first does not.
    assert len(without_copies([hit("b", longer, 0.9), hit("a", RULE, 0.8)], 8)) == 1


def test_the_first_few_suffice() -> None:
    hits = [hit(f"d{n}", f"Sentence {n} says something of its own.", 1 - n / 10) for n in range(6)]
    assert len(without_copies(hits, 3)) == 3
    assert without_copies([], 3) == []
