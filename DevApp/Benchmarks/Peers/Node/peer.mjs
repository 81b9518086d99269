// The measured work in Node: promises and asynchronous functions, all on one thread.
//
// There is no way with busy operations, because there are no fast 64-bit integers. Their substitute
// would be measured instead of the engine.
import { setTimeout } from 'node:timers/promises';

import { serve } from './protocol.mjs';

/** The work of an operation. Sums of seeds are exact, because they are far below 2 to the 53rd. */
async function operation(seed) {
  return seed;
}

function sum(numbers) {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

function operations(first, count) {
  const promises = new Array(count);
  for (let i = 0; i < count; i++) promises[i] = operation(first + i);
  return promises;
}

async function all(count) {
  return sum(await Promise.all(operations(0, count)));
}

async function allSettled(count) {
  let total = 0;
  for (const result of await Promise.allSettled(operations(0, count))) total += result.value;
  return total;
}

async function awaitLoop(count) {
  let total = 0;
  for (let i = 0; i < count; i++) total += await operation(i);
  return total;
}

async function nested(count) {
  const side = Math.floor(Math.sqrt(count));
  const row = async (first) => sum(await Promise.all(operations(first, side)));
  const rows = [];
  for (let first = 0; first < side * side; first += side) rows.push(row(first));
  return sum(await Promise.all(rows));
}

async function groupsInTurn(size, count) {
  let total = 0;
  for (let first = 0; first + size <= count; first += size) {
    total += sum(await Promise.all(operations(first, size)));
  }
  return total;
}

async function fib(n) {
  if (n < 2) return n;
  const forked = fib(n - 1);
  const own = await fib(n - 2);
  return (await forked) + own;
}

async function sleepers(count) {
  const promises = new Array(count);
  for (let i = 0; i < count; i++) promises[i] = setTimeout(10, i);
  return sum(await Promise.all(promises));
}

await serve([
  { shape: 'fan-out', name: 'Node Promise.all', run: all },
  { shape: 'fan-out', name: 'Node Promise.allSettled', run: allSettled },
  { shape: 'chain', name: 'Node await loop', run: awaitLoop },
  { shape: 'nested', name: 'Node Promise.all', run: nested },
  { shape: 'pairs', name: 'Node Promise.all', run: (count) => groupsInTurn(2, count) },
  { shape: 'eights', name: 'Node Promise.all', run: (count) => groupsInTurn(8, count) },
  { shape: 'fib', name: 'Node async function', run: () => fib(20) },
  { shape: 'sleep', name: 'Node Promise.all, setTimeout', run: sleepers },
]);
