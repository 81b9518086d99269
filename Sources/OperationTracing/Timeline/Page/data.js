const $ = (id) => document.getElementById(id);
const trace = JSON.parse($("trace").textContent);
const count = trace.ids.length;
const created = Float64Array.from(trace.created);
const started = Float64Array.from(trace.started);
const ended = Float64Array.from(trace.ended);
const rowOf = Int32Array.from(trace.rows);
const rowCount = trace.lanes[trace.lanes.length - 1];

// The outcomes, by the letters of the data. If several runs share a pixel, the highest rank is
// shown.
const RESULT = 0, ERROR = 1, CANCELLED = 2, UNFINISHED = 3;
const kinds = [
  { name: "result", icon: "", rank: 0 },
  { name: "error", icon: "✕ ", rank: 3 },
  { name: "cancelled", icon: "⊘ ", rank: 1 },
  { name: "not ended", icon: "… ", rank: 2 },
];
const kindOf = new Uint8Array(count);
const kindCounts = [0, 0, 0, 0];
for (let run = 0; run < count; run++) {
  kindOf[run] = "recu".indexOf(trace.ends[run]);
  kindCounts[kindOf[run]]++;
}

// Properties that only some runs have, by run.
const attempts = new Map(), reasons = new Map(), waits = new Map(), notes = new Map(), attributes = new Map();
const gather = (map, run, value) => map.has(run) ? map.get(run).push(value) : map.set(run, [value]);
for (let at = 0; at < trace.attempts.length; at += 2) attempts.set(trace.attempts[at], trace.attempts[at + 1]);
for (let at = 0; at < trace.reasons.length; at += 2) reasons.set(trace.reasons[at], trace.texts[trace.reasons[at + 1]]);
for (let at = 0; at < trace.waits.length; at += 4) {
  const [run, kind, from, to] = trace.waits.slice(at, at + 4);
  gather(waits, run, { kind: trace.texts[kind], from, to, end: to < 0 ? ended[run] : to });
}
for (let at = 0; at < trace.attributes.length; at += 3) {
  const [run, name, value] = trace.attributes.slice(at, at + 3);
  gather(attributes, run, [trace.texts[name], trace.texts[value]]);
}
for (let at = 0; at < trace.notes.length; at += 4) {
  const [run, time, level, text] = trace.notes.slice(at, at + 4);
  gather(notes, run, { time, level: level < 0 ? "" : trace.levels[level], text: trace.texts[text] });
}
const pathLength = trace.path.length / 3;

// The runs of each row in chronological order: row r begins at rowRuns[rowStarts[r]].
const rowStarts = new Int32Array(rowCount + 1);
for (let run = 0; run < count; run++) rowStarts[rowOf[run] + 1]++;
for (let row = 0; row < rowCount; row++) rowStarts[row + 1] += rowStarts[row];
const rowRuns = new Int32Array(count);
const placeInRow = new Int32Array(count);
{
  const next = rowStarts.slice();
  for (let run = 0; run < count; run++) rowRuns[next[rowOf[run]]++] = run;
  for (let row = 0; row < rowCount; row++) {
    const part = rowRuns.subarray(rowStarts[row], rowStarts[row + 1]);
    if (part.some((run, at) => at > 0 && created[run] < created[part[at - 1]])) {
      part.sort((one, other) => created[one] - created[other] || one - other);
    }
  }
  for (let at = 0; at < count; at++) placeInRow[rowRuns[at]] = at;
}
const isOdd = new Uint8Array(rowCount);
trace.lanes.slice(0, -1).forEach((row, lane) => isOdd.fill(lane % 2, row, trace.lanes[lane + 1]));

// Returns the position of the first run of a row that has not ended before a time.
function firstInRow(row, time) {
  let low = rowStarts[row], high = rowStarts[row + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ended[rowRuns[middle]] < time) low = middle + 1; else high = middle;
  }
  return low;
}

const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 1 });
const nameOf = (run) => trace.names[trace.runNames[run]].trim() || "(no name)";
const titleOf = (run) => nameOf(run) + (attempts.has(run) ? ` (attempt ${attempts.get(run)})` : "");

function pathOf(run) {
  const names = [];
  for (let at = run; at >= 0; at = trace.parents[at]) names.push(nameOf(at).slice(0, 60));
  names.reverse();
  if (names.length > 9) names.splice(3, names.length - 8, `… ${names.length - 8} more …`);
  return names.join(" › ");
}

const units = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];

// 812 ns, 12.4 µs, 3.21 ms, 1.24 s, 2 min 5 s
function readable(time) {
  if (time < 0) return "−" + readable(-time);
  for (const [unit, size] of units) {
    if (time >= 1000 * size || (unit === "s" && time >= 60 * size)) continue;
    const value = time / size;
    const places = size === 1 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
    const scale = 10 ** places;
    return `${(Math.floor(value * scale + 1e-9) / scale).toFixed(places)} ${unit}`;
  }
  const seconds = Math.floor(time / 1e9);
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s`
    : `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

// Formats a time with as many decimals as a step of the axis needs.
function moment(time, step) {
  let [unit, size] = units[0];
  for (const [name, length] of units) if (Math.max(Math.abs(time), step) >= length) [unit, size] = [name, length];
  if (time === 0) return "0";
  if (unit === "s" && step >= 1e9 && time >= 60e9) return readable(time);
  const places = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(time / size).toFixed(places)} ${unit}`;
}

// Returns a step of the axis: 1, 2 or 5 times a power of ten, or above a minute, as clocks show
// them.
function stepOver(least) {
  for (const step of [60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400]) {
    if (least > 50e9 && step * 1e9 >= least) return step * 1e9;
  }
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least * 0.999999);
}
