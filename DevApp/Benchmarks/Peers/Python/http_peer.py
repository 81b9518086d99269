"""Requests over HTTP with aiohttp, to the server whose address is PEER_SERVER."""

import asyncio
import math
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp
from protocol import Timed, Way, serve

SERVER = os.environ.get("PEER_SERVER")
MEGABYTE = 1_000_000


async def small(connections: int, count: int) -> int:
    numbers = iter(range(count))

    async def send() -> int:
        size = 0
        for _ in numbers:
            async with session.get(f"{SERVER}/small") as response:
                response.raise_for_status()
                size += len(await response.read())
        return size

    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(connector=connector) as session:
        return sum(await asyncio.gather(*[send() for _ in range(connections)]))


async def to_memory(megabytes: int) -> int:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{SERVER}/large/{megabytes * MEGABYTE}") as response:
            response.raise_for_status()
            return len(await response.read())


async def to_file(megabytes: int) -> int:
    size = 0
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{SERVER}/large/{megabytes * MEGABYTE}") as response:
            response.raise_for_status()
            with open("/dev/null", "wb", buffering=0) as file:
                async for chunk in response.content.iter_any():
                    size += file.write(chunk)
    return size


@asynccontextmanager
async def waiting(width: int) -> AsyncIterator[list[asyncio.Task]]:
    """Requests that are sent, and wait for their responses."""
    missing = width
    are_sent = asyncio.Event()

    async def count_sent(*_: object) -> None:
        nonlocal missing
        missing -= 1
        if missing == 0:
            are_sent.set()

    async def send() -> None:
        async with session.get(f"{SERVER}/wait"):
            pass

    trace = aiohttp.TraceConfig()
    trace.on_request_headers_sent.append(count_sent)
    connector = aiohttp.TCPConnector(limit=width)
    async with aiohttp.ClientSession(connector=connector, trace_configs=[trace]) as session:
        tasks = [asyncio.create_task(send()) for _ in range(width)]
        await are_sent.wait()
        yield tasks


@asynccontextmanager
async def receiving() -> AsyncIterator[list[asyncio.Task]]:
    """A request for an endless body, of which 4 MB have been received."""
    has_arrived = asyncio.Event()

    async def receive() -> None:
        size = 0
        async with session.get(f"{SERVER}/large/{1 << 50}") as response:
            async for chunk in response.content.iter_any():
                size += len(chunk)
                if size >= 4 * MEGABYTE:
                    has_arrived.set()

    async with aiohttp.ClientSession() as session:
        task = asyncio.create_task(receive())
        await has_arrived.wait()
        yield [task]


async def cancel(
    start: Callable[[], AbstractAsyncContextManager[list[asyncio.Task]]], count: int, portion: float
) -> Timed:
    times = []
    for _ in range(count):
        async with start() as tasks:
            begin = time.perf_counter_ns()
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            times.append(time.perf_counter_ns() - begin)
            if not all(isinstance(end, asyncio.CancelledError) for end in ends):
                raise RuntimeError(f"a request was not cancelled: {ends}")
    return Timed(sorted(times)[math.ceil(portion * count) - 1], count)


def cancellations(
    shape: str, start: Callable[[], AbstractAsyncContextManager[list[asyncio.Task]]]
) -> list[Way]:
    return [
        Way(shape, f"{name}, median", lambda count: cancel(start, count, 0.5)),
        Way(shape, f"{name}, 99th percentile", lambda count: cancel(start, count, 0.99)),
    ]


if __name__ == "__main__":
    name = "Python aiohttp"
    serve(
        [
            Way("http-1", name, lambda count: small(1, count)),
            Way("http-8", name, lambda count: small(8, count)),
            Way("http-64", name, lambda count: small(64, count)),
            Way("http-to-memory", name, to_memory),
            Way("http-to-file", name, to_file),
            *cancellations("http-cancel", lambda: waiting(1)),
            *cancellations("http-cancel-body", receiving),
            *cancellations("http-cancel-64", lambda: waiting(64)),
        ]
        if SERVER
        else []
    )
