const runsCanvas = $("runs"), axisCanvas = $("axis"), scroller = $("scroller"), spacer = $("spacer");
const ctx = runsCanvas.getContext("2d"), axis = axisCanvas.getContext("2d");
const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// A trace of zero length is shown as a microsecond.
const whole = { from: trace.from, to: Math.max(trace.to, trace.from + 1000) };
const margin = (whole.to - whole.from) * 0.004;
whole.from -= margin;
whole.to += margin;
const view = { from: whole.from, to: whole.to, rowHeight: 22 };
const shown = { hover: -1, focus: -1, pinned: -1, path: false, found: null, pointer: -1, selection: null };
let width = 0, height = 0, ratio = window.devicePixelRatio || 1, colors = {}, patterns = {};

function readColors() {
  const probe = document.createElement("i");
  document.body.append(probe);
  for (const name of ["page", "band", "line", "ink", "faint", "accent", "label", "result", "error", "cancelled",
    "unfinished", "area", "path", "focus"]) {
    probe.style.color = `var(--${name})`;
    colors[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  colors.kinds = [colors.result, colors.error, colors.cancelled, colors.unfinished];
  patterns.waiting = colors.kinds.map((color) => hatch(color));
  patterns.cancelled = tile(6, (tile) => { tile.fillRect(0, 0, 2, 6); }, "rgb(255 255 255 / 40%)");
  patterns.unfinished = tile(8, (tile) => { tile.fillRect(1, 1, 1.5, 1.5); tile.fillRect(5, 5, 1.5, 1.5); });
}

// Creates a repeating square.
function tile(size, draw, color = "rgb(0 0 0 / 30%)", ground = null) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = Math.round(size * ratio);
  const context = canvas.getContext("2d");
  context.scale(canvas.width / size, canvas.height / size);
  if (ground) { context.fillStyle = ground; context.fillRect(0, 0, size, size); }
  context.fillStyle = context.strokeStyle = color;
  draw(context);
  const pattern = ctx.createPattern(canvas, "repeat");
  pattern.setTransform(new DOMMatrix().scale(size / canvas.width));
  return pattern;
}

function hatch(color) {
  return tile(6, (context) => {
    context.globalAlpha = 0.18;
    context.fillRect(0, 0, 6, 6);
    context.globalAlpha = 0.4;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const x of [-6, 0, 6]) { context.moveTo(x, 6); context.lineTo(x + 6, 0); }
    context.stroke();
  }, color, colors.page);
}

const scale = () => width / (view.to - view.from);
const toX = (time) => (time - view.from) * scale();
const toTime = (x) => view.from + x / scale();
const topOf = (row) => row * view.rowHeight - scroller.scrollTop + 4;

let isScheduled = false;
function redraw() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => { isScheduled = false; drawAll(); });
}

function drawAll() {
  if (width === 0) return;
  const step = stepOver(100 / scale());
  drawAxis(step);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = colors.page;
  ctx.fillRect(0, 0, width, height);
  const first = Math.max(0, Math.floor((scroller.scrollTop - 4) / view.rowHeight));
  const last = Math.min(rowCount, Math.ceil((scroller.scrollTop + height) / view.rowHeight));
  ctx.fillStyle = colors.band;
  for (let row = first; row < last; row++) {
    if (isOdd[row]) ctx.fillRect(0, topOf(row), width, view.rowHeight);
  }
  ctx.fillStyle = colors.line;
  eachTick(step, (x) => ctx.fillRect(Math.round(x), 0, 1, height));
  const isDimmed = shown.path || shown.found;
  for (let row = first; row < last; row++) drawRow(row, null, !isDimmed);
  if (isDimmed) {
    ctx.globalAlpha = 0.78;
    ctx.fillStyle = colors.page;
    ctx.fillRect(0, 0, width, height);
    ctx.globalAlpha = 1;
    if (shown.found) for (let row = first; row < last; row++) drawRow(row, shown.found, true);
    if (shown.path) drawPath();
  }
  if (shown.hover >= 0) frame(shown.hover, colors.ink, 1.5);
  if (shown.pinned >= 0) frame(shown.pinned, colors.focus, 2);
  if (shown.focus >= 0) frame(shown.focus, colors.focus, 2.5);
  if (shown.pointer >= 0) {
    ctx.fillStyle = colors.faint;
    ctx.fillRect(Math.round(shown.pointer), 0, 1, height);
  }
}

// Merges runs that are narrower than 1.5 pixels, in the color of the highest rank.
function drawRow(row, filter, hasLabels) {
  const y = topOf(row), tall = Math.max(1, view.rowHeight - (view.rowHeight > 5 ? 2 : view.rowHeight > 2 ? 0.5 : 0));
  const perTime = scale(), from = view.from, to = view.to, end = rowStarts[row + 1];
  let blobFrom = 0, blobTo = -1, blobKind = 0;
  const flush = () => {
    if (blobTo > blobFrom) { ctx.fillStyle = colors.kinds[blobKind]; ctx.fillRect(blobFrom, y, blobTo - blobFrom, tall); }
    blobTo = -1;
  };
  for (let at = firstInRow(row, from); at < end; at++) {
    const run = rowRuns[at];
    if (created[run] > to) break;
    if (filter && !filter[run]) continue;
    const x0 = (created[run] - from) * perTime, x1 = (ended[run] - from) * perTime;
    if (x1 - x0 >= 1.5) {
      flush();
      drawRun(run, x0, x1, y, tall, hasLabels);
      continue;
    }
    const column = Math.floor(x0), kind = kindOf[run];
    if (blobTo < 0 || column > blobTo) { flush(); blobFrom = column; blobTo = column + 1; blobKind = kind; }
    else if (kind === blobKind) blobTo = column + 1;
    else if (kinds[kind].rank > kinds[blobKind].rank) {
      blobTo = Math.min(blobTo, column);
      flush();
      blobFrom = column; blobTo = column + 1; blobKind = kind;
    } else if (column >= blobTo) { flush(); blobFrom = column; blobTo = column + 1; blobKind = kind; }
  }
  flush();
}

function drawRun(run, exactFrom, exactTo, y, tall, hasLabel) {
  const x0 = Math.max(exactFrom, -8), x1 = Math.min(exactTo, width + 8), kind = kindOf[run];
  // Leaves a gap between neighbors if there is room.
  const wide = Math.max(1.5, x1 - x0 - (x1 - x0 > 4 ? 1 : 0));
  ctx.fillStyle = colors.kinds[kind];
  ctx.fillRect(x0, y, wide, tall);
  if (wide >= 3 && tall >= 4 && kind !== RESULT && kind !== ERROR) {
    ctx.fillStyle = kind === CANCELLED ? patterns.cancelled : patterns.unfinished;
    ctx.fillRect(x0, y, wide, tall);
  }
  const idle = idleParts(run, x0, x0 + wide);
  if (tall >= 3) {
    ctx.fillStyle = patterns.waiting[kind];
    for (const [from, to] of idle) {
      ctx.fillRect(from, y, to - from, tall);
    }
  }
  if (wide >= 4 && tall >= 8) outline(run, kind, x0, y, wide, tall, idle.length > 0);
  if (hasLabel && tall >= 10 && wide > 22) drawLabel(run, x0, x0 + wide, y, tall, idle);
}

// Returns the visible parts, in pixels, in which a run was waiting or had not started.
function idleParts(run, x0, x1) {
  const parts = [];
  const add = (from, to) => {
    const left = Math.max(x0, toX(from)), right = Math.min(x1, toX(to));
    if (right - left >= 0.5) parts.push([left, right]);
  };
  add(created[run], started[run] < 0 ? ended[run] : started[run]);
  for (const wait of waits.get(run) || []) add(wait.from, wait.end);
  return parts;
}

function outline(run, kind, x, y, wide, tall, isHatched) {
  if (kind === ERROR) {
    ctx.strokeStyle = colors.ink;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x + 0.75, y + 0.75, wide - 1.5, tall - 1.5);
  } else if (kind === UNFINISHED) {
    ctx.strokeStyle = colors.faint;
    ctx.lineWidth = 1;
    ctx.setLineDash([3, 2]);
    ctx.strokeRect(x + 0.5, y + 0.5, wide - 1, tall - 1);
    ctx.setLineDash([]);
  } else if (isHatched) {
    ctx.strokeStyle = colors.kinds[kind];
    ctx.lineWidth = 1;
    ctx.strokeRect(x + 0.5, y + 0.5, wide - 1, tall - 1);
  }
}

const nameWidths = new Map();
function widthOf(text) {
  let known = nameWidths.get(text);
  if (known === undefined) {
    if (nameWidths.size > 20000) nameWidths.clear();
    nameWidths.set(text, known = ctx.measureText(text).width);
  }
  return known;
}

// Returns as much of a text as fits.
function fitting(text, room) {
  const full = widthOf(text);
  if (full <= room) return text;
  for (let length = Math.floor(text.length * room / full); length > 0; length--) {
    // Does not split a surrogate pair.
    if (/[\ud800-\udbff]/.test(text[length - 1])) continue;
    const part = text.slice(0, length).trimEnd() + "…";
    if (ctx.measureText(part).width <= room) return part;
  }
  return "";
}

function drawLabel(run, x0, x1, y, tall, idle) {
  const left = Math.max(x0, 0) + 5, room = Math.min(x1, width) - left - 4;
  if (room < 14) return;
  ctx.font = font;
  ctx.textBaseline = "middle";
  const attempt = attempts.get(run);
  const name = fitting(kinds[kindOf[run]].icon + nameOf(run).replace(/(\p{M}{2})\p{M}+/gu, "$1") + (attempt ? ` #${attempt}` : ""), room);
  const time = kindOf[run] === UNFINISHED ? "" : readable(ended[run] - created[run]);
  const hasTime = time !== "" && !name.endsWith("…") && widthOf(name) + widthOf(time) + 14 < room;
  const middle = y + tall / 2 + 0.5;
  const write = (color) => {
    ctx.fillStyle = color;
    ctx.fillText(name, left, middle);
    if (hasTime) ctx.fillText(time, left + room - widthOf(time), middle);
  };
  write(colors.label);
  if (idle.length === 0) return;
  // Waiting parts are as light or dark as the page, so their text needs the ink of the page.
  ctx.save();
  ctx.beginPath();
  for (const [from, to] of idle) ctx.rect(from, y, to - from, tall);
  ctx.clip();
  ctx.fillStyle = patterns.waiting[kindOf[run]];
  ctx.fillRect(x0, y + 1.5, x1 - x0, tall - 3);
  write(colors.ink);
  ctx.restore();
}

function drawPath() {
  const points = [];
  let last = -1;
  for (let at = 0; at < pathLength; at++) {
    const run = trace.path[3 * at], from = toX(trace.path[3 * at + 1]), to = toX(trace.path[3 * at + 2]);
    if (to < -10 || from > width + 10) continue;
    const y = topOf(rowOf[run]);
    if (to - from < 0.7 && from - last < 0.7) continue;
    last = to;
    points.push([run, from, to, y]);
    if (y < -view.rowHeight || y > height) continue;
    const tall = Math.max(1, view.rowHeight - 2);
    ctx.save();
    ctx.beginPath();
    ctx.rect(Math.max(from, -8), y, Math.max(1.5, Math.min(to, width + 8) - Math.max(from, -8)), tall);
    ctx.clip();
    drawRun(run, toX(created[run]), Math.max(toX(ended[run]), toX(created[run]) + 1.5), y, tall, to - from > 30);
    ctx.restore();
  }
  ctx.strokeStyle = colors.path;
  ctx.lineWidth = 2;
  ctx.beginPath();
  for (const [, from, to, y] of points) {
    const bottom = y + Math.max(1, view.rowHeight - 2);
    ctx.lineTo(Math.max(from, -20), bottom);
    ctx.lineTo(Math.min(to, width + 20), bottom);
  }
  ctx.stroke();
}

function frame(run, color, thick) {
  const x0 = Math.max(-8, toX(created[run])), x1 = Math.min(width + 8, toX(ended[run]));
  if (x1 < -4 || x0 > width + 4) return;
  ctx.strokeStyle = color;
  ctx.lineWidth = thick;
  const tall = Math.max(4, view.rowHeight - 2);
  ctx.strokeRect(x0 - 1, topOf(rowOf[run]) - 1, Math.max(5, x1 - x0 + 1), tall + 2);
}
