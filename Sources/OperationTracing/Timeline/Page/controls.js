function clampView() {
  const most = whole.to - whole.from;
  // Shorter ranges exceed the precision of numbers of this size.
  const least = Math.min(most, 20);
  const length = Math.min(most, Math.max(least, view.to - view.from));
  const middle = (view.from + view.to) / 2;
  view.from = Math.min(Math.max(whole.from, middle - length / 2), whole.to - length);
  view.to = view.from + length;
}

function look(from, to) {
  view.from = from;
  view.to = to;
  clampView();
  redraw();
}

function zoom(factor, x = width / 2) {
  const time = toTime(x);
  look(time - (time - view.from) / factor, time + (view.to - time) / factor);
}

function pan(pixels) { look(view.from + pixels / scale(), view.to + pixels / scale()); }

function setRowHeight(tall, y = height / 2) {
  const row = (scroller.scrollTop + y) / view.rowHeight;
  view.rowHeight = Math.min(40, Math.max(2, tall));
  spacer.style.height = `${Math.ceil(rowCount * view.rowHeight) + 8}px`;
  scroller.scrollTop = row * view.rowHeight - y;
  redraw();
}

// Fits all rows if possible. If that leaves no room for names, rows become high enough to read,
// unless there are many.
function fitRows() {
  const fitting = (height - 8) / Math.max(1, rowCount);
  setRowHeight(fitting >= 14 ? Math.min(24, fitting) : fitting >= 4 ? 16 : Math.max(3, fitting));
}

function showEverything() {
  look(whole.from, whole.to);
  fitRows();
  scroller.scrollTop = 0;
}

function resize() {
  ratio = window.devicePixelRatio || 1;
  const isFirst = width === 0;
  if (width === scroller.clientWidth && height === scroller.clientHeight && !isFirst) return;
  width = scroller.clientWidth;
  height = scroller.clientHeight;
  for (const [canvas, wide, tall] of [[runsCanvas, width, height], [axisCanvas, axisCanvas.clientWidth, 84]]) {
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(tall * ratio);
  }
  runsCanvas.style.width = `${width}px`;
  runsCanvas.style.height = `${height}px`;
  if (isFirst) fitRows();
  paint();
  // Immediately: a canvas whose size changes is blank.
  drawAll();
}

// Redraws everything that depends on colors.
function paint() {
  readColors();
  showLegend();
  redraw();
}

function hit(x, y) {
  const row = Math.floor((y + scroller.scrollTop - 4) / view.rowHeight);
  if (row < 0 || row >= rowCount) return -1;
  let best = -1, distance = 4;
  for (let at = firstInRow(row, toTime(x - 4)); at < rowStarts[row + 1]; at++) {
    const run = rowRuns[at], away = Math.max(toX(created[run]) - x, x - toX(ended[run]), 0);
    if (toX(created[run]) > x + 4) break;
    if (away < distance) [best, distance] = [run, away];
    if (away === 0) break;
  }
  return best;
}

// Scrolls and zooms so that a run is visible.
function reveal(run) {
  const length = ended[run] - created[run];
  if (length * scale() < 40 || length > view.to - view.from) {
    const around = Math.max(length * 8, 100);
    look(created[run] - around / 2, ended[run] + around / 2);
  } else if (created[run] < view.from || ended[run] > view.to) {
    const middle = created[run] + length / 2, half = (view.to - view.from) / 2;
    look(middle - half, middle + half);
  }
  showRow(run);
}

function showRow(run) {
  const top = rowOf[run] * view.rowHeight;
  if (top < scroller.scrollTop || top + view.rowHeight + 8 > scroller.scrollTop + height) {
    scroller.scrollTop = top - height / 2;
  }
}

function pin(run) {
  shown.pinned = run;
  if (run >= 0) shown.focus = run;
  if (run >= 0) $("live").textContent = spoken(run);
  updateDetails();
  redraw();
}

function focusRun(run) {
  if (run === undefined || run < 0) return;
  shown.focus = run;
  if (shown.pinned >= 0) shown.pinned = run;
  if (toX(ended[run]) < 0 || toX(created[run]) > width) reveal(run);
  showRow(run);
  updateDetails();
  $("live").textContent = spoken(run);
  redraw();
}

// Returns the run of a row that is nearest to a time.
function nearest(row, time) {
  if (row < 0 || row >= rowCount || rowStarts[row] === rowStarts[row + 1]) return -1;
  const at = Math.min(firstInRow(row, time), rowStarts[row + 1] - 1);
  const before = Math.max(at - 1, rowStarts[row]);
  const away = (run) => Math.max(created[run] - time, time - ended[run], 0);
  return away(rowRuns[before]) < away(rowRuns[at]) ? rowRuns[before] : rowRuns[at];
}

function moveFocus(key) {
  const run = shown.focus;
  if (run < 0) return focusRun(nearest(Math.max(0, Math.floor(scroller.scrollTop / view.rowHeight)), view.from));
  const row = rowOf[run], at = placeInRow[run], middle = (created[run] + ended[run]) / 2;
  const visible = Math.min(Math.max(middle, view.from), view.to);
  switch (key) {
  case "ArrowLeft": return at > rowStarts[row] && focusRun(rowRuns[at - 1]);
  case "ArrowRight": return at + 1 < rowStarts[row + 1] && focusRun(rowRuns[at + 1]);
  case "ArrowUp": return focusRun(nearest(row - 1, visible));
  case "ArrowDown": return focusRun(nearest(row + 1, visible));
  case "Home": return focusRun(rowRuns[rowStarts[row]]);
  case "End": return focusRun(rowRuns[rowStarts[row + 1] - 1]);
  }
}

// The runs found, in chronological order.
let found = [], foundAt = -1;
function search() {
  const text = $("search").value.trim().toLowerCase();
  const matches = trace.names.map((name) => text !== "" && name.toLowerCase().includes(text));
  shown.found = text === "" ? null : Uint8Array.from(trace.runNames, (name) => matches[name] ? 1 : 0);
  found = [];
  foundAt = -1;
  if (shown.found) for (let run = 0; run < count; run++) if (shown.found[run]) found.push(run);
  showFound();
  redraw();
}

function showFound() {
  $("found").textContent = !shown.found ? "" : found.length === 0 ? "none"
    : foundAt < 0 ? `${number(found.length)} found` : `${number(foundAt + 1)} of ${number(found.length)}`;
}

function goToFound(step) {
  if (found.length === 0) return;
  foundAt = foundAt < 0 ? (step > 0 ? 0 : found.length - 1) : (foundAt + step + found.length) % found.length;
  reveal(found[foundAt]);
  pin(found[foundAt]);
  showFound();
}

function togglePath() {
  shown.path = !shown.path;
  $("critical").setAttribute("aria-pressed", String(shown.path));
  redraw();
}

function toggleTheme() {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark"
    || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "light" : "dark";
  paint();
}
