import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';

const warmUpMilliseconds = 500;
const maximumCount = 10_000_000;

/**
 * Prints the ways, then answers requests until there are no more. A way has a shape, a name and an
 * asynchronous function that does the work once and returns its checksum.
 */
export async function serve(ways) {
  for (const way of ways) console.log(`way\t${way.shape}\t${way.name}`);
  console.log('ready');
  const warm = new Set();
  for await (const request of createInterface({ input: process.stdin })) {
    try {
      console.log(await answer(request, ways, warm));
    } catch (error) {
      console.log(`error ${error.message}`);
    }
  }
}

async function answer(request, ways, warm) {
  const words = /^([0-9]{1,9}) ([0-9]{1,9})$/.exec(request);
  if (!words) throw new Error('a request is two numbers');
  const way = ways[Number(words[1])];
  const count = Number(words[2]);
  if (!way) throw new Error('there is no such way');
  if (count < 1 || count > maximumCount) {
    throw new Error(`the count must be from 1 to ${maximumCount}`);
  }

  if (!warm.has(way)) {
    warm.add(way);
    await warmUp(way, count);
  }
  wake();
  const start = process.hrtime.bigint();
  const checksum = await way.run(count);
  const nanoseconds = process.hrtime.bigint() - start;
  await settle();
  return `${nanoseconds} ${checksum}`;
}

/** Gives the compiler time to compile frequent code to machine code. */
async function warmUp(way, count) {
  const end = performance.now() + warmUpMilliseconds;
  while (performance.now() < end) await way.run(count);
  await settle();
}

/** Keeps the core busy briefly, so that it runs at full speed. */
function wake() {
  const end = performance.now() + 0.2;
  while (performance.now() < end);
}

/**
 * Waits until the threads are idle, so that they take no time from the next measurement: the
 * threads of the collector continue after a run. The system may update the time of a thread only
 * every 10 ms.
 */
async function settle() {
  for (let waits = 0; waits < 10; waits++) {
    const before = process.cpuUsage();
    await setTimeout(10);
    const { user, system } = process.cpuUsage(before);
    if (user + system < 1000) return;
  }
}
