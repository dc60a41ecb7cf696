import random
from hashlib import sha256
from itertools import pairwise

import pytest

from lab.makers import case
from ombud.errors import BadRequest, UnknownName
from ombud.lab import contaminated, contamination_note, draw_sample, select_split, split_of
from ombud.lab.cases.splits import OPEN
from ombud.types import Case, Person


def test_known_digests() -> None:
    # FIPS 180-2: sha256("abc") = ba7816bf…; 0xba7816bf = 3128432319, last digit 9.
    assert split_of("abc") == "sealed"
    # sha256("") = e3b0c442…; 0xe3b0c442 = 3820012610, last digit 0.
    assert split_of("") == "dev"
    # FIPS 180-2: 248d6a61…; 0x248d6a61 = 613247585, last digit 5.
    assert split_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") == "dev"


def test_every_digit_has_its_split() -> None:
    wanted = dict(zip("0123456789", ["dev"] * 6 + ["test"] * 2 + ["sealed"] * 2, strict=True))
    seen = set()
    for number in range(200):
        digit = str(int.from_bytes(sha256(f"case-{number}".encode()).digest()[:4]))[-1]
        seen.add(digit)
        assert split_of(f"case-{number}") == wanted[digit]
    assert len(seen) == 10


def test_the_splits_part_the_cases() -> None:
    cases = [case(id=f"case-{number}") for number in range(100)]
    parts = [select_split(cases, split) for split in ("dev", "test", "sealed")]
    assert sorted(one.id for part in parts for one in part) == sorted(one.id for one in cases)
    with pytest.raises(UnknownName, match="train") as wrong:
        select_split(cases, "train")
    assert "dev, test, sealed" in wrong.value.hint


def test_open_is_everything_that_is_not_sealed() -> None:
    cases = [case(id=f"case-{number}") for number in range(100)]
    both = {one.id for split in ("dev", "test") for one in select_split(cases, split)}
    assert [one.id for one in select_split(cases, OPEN)] == [
        one.id for one in cases if one.id in both
    ]
    assert not set(select_split(cases, OPEN)) & set(select_split(cases, "sealed"))


def kinds(number: int) -> list[Case]:
    return [
        case(id=f"{kind}-{n}", type=kind)
        for n in range(number)
        for kind in ("simple", "double", "vague")
    ]


@pytest.mark.parametrize(
    ("share", "size", "each"),
    [
        (1, 30, 30),
        (0.2, 10, 2),
        (0.21, 10, 3),
        (0.01, 10, 1),
        (0.07, 100, 7),
        (0.28, 25, 7),
        (1e-12, 100, 1),
    ],
)
def test_a_sample_has_the_same_share_of_every_type_rounded_up(
    share: float, size: int, each: int
) -> None:
    drawn = draw_sample(kinds(size), share)
    assert {
        kind: sum(one.type == kind for one in drawn) for kind in ("simple", "double", "vague")
    } == {
        "simple": each,
        "double": each,
        "vague": each,
    }


def test_a_sample_keeps_the_order_and_follows_from_seed_and_ids_alone() -> None:
    cases = kinds(40)
    drawn = draw_sample(cases, 0.25, seed=3)
    assert drawn == tuple(one for one in cases if one in drawn)
    assert set(draw_sample(cases[::-1], 0.25, seed=3)) == set(drawn)
    assert set(draw_sample(cases, 0.25, seed=4)) != set(drawn)
    changed = [one.model_copy(update={"question": "Other words?"}) for one in cases]
    assert [one.id for one in draw_sample(changed, 0.25, seed=3)] == [one.id for one in drawn]


def test_a_larger_sample_holds_the_smaller_one() -> None:
    cases = kinds(40)
    sizes = [set(draw_sample(cases, share)) for share in (0.1, 0.3, 0.9, 1)]
    assert all(small < large for small, large in pairwise(sizes))
    assert draw_sample([], 0.5) == ()


@pytest.mark.parametrize("share", [0, -0.1, 1.01, float("nan"), float("inf")])
def test_a_share_is_between_nothing_and_all(share: float) -> None:
    with pytest.raises(BadRequest, match="cannot be drawn"):
        draw_sample(kinds(2), share)


def test_questions_that_are_nearly_asked_on_the_other_side_are_named() -> None:
    dev = [f"d{n}" for n in range(100) if split_of(f"d{n}") == "dev"]
    held = [f"h{n}" for n in range(100) if split_of(f"h{n}") != "dev"]
    cases = [
        case(id=dev[0], question="How many days of annual leave do I have in the first year?"),
        case(id=dev[1], question="May I work from home on Fridays?"),
        case(id=held[0], question="How many days of annual leave do I have in my first year?"),
        case(id=held[1], question="How many days of sick leave do I have at most?"),
        case(id=held[2], question="may I work from home on fridays", person=Person(country="DE")),
    ]
    found = contaminated(cases)
    assert [(one.case, one.seen_as) for one in found] == [(held[0], dev[0])]
    note = contamination_note(found, cases[2:])
    assert note == f"1 of 3 questions are nearly asked in dev too: {held[0]} as {dev[0]}."
    assert contamination_note(found, cases[3:]) == ""


def test_the_likes_that_are_found_are_those_of_a_look_at_all_pairs() -> None:
    draw = random.Random(1)
    words = [f"w{n}" for n in range(12)]
    cases = [
        case(id=f"c{n}", question=" ".join(draw.sample(words, draw.randint(4, 8))))
        for n in range(300)
    ]
    sets = {one.id: frozenset(one.question.split()) for one in cases}
    dev = [one.id for one in cases if split_of(one.id) == "dev"]
    wanted = set()
    for one in cases:
        if split_of(one.id) == "dev":
            continue
        shares = [len(sets[one.id] & sets[d]) / len(sets[one.id] | sets[d]) for d in dev]
        if max(shares) >= 0.8:
            wanted.add((one.id, max(shares)))
    assert {(one.case, one.share) for one in contaminated(cases)} == wanted
    assert len(wanted) > 20
