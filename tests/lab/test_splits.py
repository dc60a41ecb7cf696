from hashlib import sha256

import pytest

from lab.makers import case
from ombud.errors import UnknownName
from ombud.lab import select, split_of


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
    parts = [select(cases, split) for split in ("dev", "test", "sealed")]
    assert sorted(one.id for part in parts for one in part) == sorted(one.id for one in cases)
    with pytest.raises(UnknownName, match="train") as wrong:
        select(cases, "train")
    assert "dev, test, sealed" in wrong.value.hint
