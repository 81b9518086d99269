"""The measured work in Python's asyncio: tasks and coroutines, all on one thread.

There is no way with busy operations: the interpreter's arithmetic would be measured instead of the
engine.
"""

import asyncio
import math

from protocol import Way, serve


async def operation(seed: int) -> int:
    return seed


async def gather(first: int, count: int) -> int:
    return sum(await asyncio.gather(*[operation(first + i) for i in range(count)]))


async def task_group(count: int) -> int:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(operation(i)) for i in range(count)]
    return sum(task.result() for task in tasks)


async def await_loop(count: int) -> int:
    total = 0
    for i in range(count):
        total += await operation(i)
    return total


async def task_a_step(count: int) -> int:
    total = 0
    for i in range(count):
        total += await asyncio.create_task(operation(i))
    return total


async def nested(count: int) -> int:
    side = math.isqrt(count)
    return sum(await asyncio.gather(*[gather(row * side, side) for row in range(side)]))


async def groups_in_turn(size: int, count: int) -> int:
    total = 0
    for first in range(0, count - size + 1, size):
        total += await gather(first, size)
    return total


async def fib(n: int) -> int:
    if n < 2:
        return n
    forked = asyncio.create_task(fib(n - 1))
    own = await fib(n - 2)
    return await forked + own


async def sleepers(count: int) -> int:
    return sum(await asyncio.gather(*[asyncio.sleep(0.01, i) for i in range(count)]))


if __name__ == "__main__":
    serve(
        [
            Way("fan-out", "Python gather", lambda count: gather(0, count)),
            Way("fan-out", "Python TaskGroup", task_group),
            Way("chain", "Python await loop", await_loop),
            Way("chain", "Python create_task a step", task_a_step),
            Way("nested", "Python gather of gathers", nested),
            Way("pairs", "Python gather", lambda count: groups_in_turn(2, count)),
            Way("eights", "Python gather", lambda count: groups_in_turn(8, count)),
            Way("fib", "Python create_task", lambda count: fib(20)),
            Way("sleep", "Python gather, asyncio.sleep", sleepers),
        ]
    )
