"""What a page weighs, for its tests and its benchmark."""

import gzip
import re

import httpx


def weigh(client: httpx.Client, path: str) -> int:
    """Bytes on the wire of a page with every file it loads."""
    total, seen, waiting = 0, set[str](), [path]
    while waiting:
        one = waiting.pop()
        seen.add(one)
        with client.stream("GET", one) as reply:
            raw = b"".join(reply.iter_raw())
            packed = reply.headers.get("content-encoding") == "gzip"
        total += len(raw)
        text = (gzip.decompress(raw) if packed else raw).decode()
        found = re.findall(r"(?:src|href)=\"(/static/[^\"]+)\"", text)
        folder = one.rpartition("/")[0]
        found += [f"{folder}/{name}" for name in re.findall(r"from \"\./([\w.]+)\"", text)]
        waiting += [place for place in found if place not in seen and place not in waiting]
    return total
