"""The protocol of a peer."""

import asyncio
import re
import sys
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

MAXIMUM_COUNT = 10_000_000


class Timed(NamedTuple):
    """The answer of a way that takes its own time, because only a part of its work counts."""

    nanoseconds: int
    checksum: int


class Way(NamedTuple):
    shape: str
    name: str
    # Does the work once and returns its checksum.
    run: Callable[[int], Awaitable[int | Timed]]


def serve(ways: list[Way]) -> None:
    """Prints the ways, then answers requests until there are no more."""
    for way in ways:
        print("way", way.shape, way.name, sep="\t")
    print("ready", flush=True)
    with asyncio.Runner() as runner:
        for request in sys.stdin:
            try:
                way, count = parse(request, ways)
                print(*runner.run(measure(way, count)), flush=True)
            except Exception as error:
                print("error", error, flush=True)


def parse(request: str, ways: list[Way]) -> tuple[Way, int]:
    words = re.fullmatch("([0-9]{1,9}) ([0-9]{1,9})\n?", request)
    if not words:
        raise ValueError("a request is two numbers")
    number, count = map(int, words.groups())
    if number >= len(ways):
        raise ValueError("there is no such way")
    if not 1 <= count <= MAXIMUM_COUNT:
        raise ValueError(f"the count must be from 1 to {MAXIMUM_COUNT}")
    return ways[number], count


async def measure(way: Way, count: int) -> tuple[int, int]:
    wake()
    start = time.perf_counter_ns()
    answer = await way.run(count)
    if isinstance(answer, Timed):
        return answer
    return time.perf_counter_ns() - start, answer


def wake() -> None:
    """Keeps the core busy briefly, so that it runs at full speed."""
    end = time.perf_counter_ns() + 200_000
    while time.perf_counter_ns() < end:
        pass
