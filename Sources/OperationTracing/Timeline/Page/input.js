// MARK: The pointer

const leftOf = (event) => event.clientX - runsCanvas.getBoundingClientRect().left;
const heightOf = (event) => event.clientY - runsCanvas.getBoundingClientRect().top;
let drag = null;

runsCanvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  drag = { x: event.clientX, y: event.clientY, hasMoved: false };
  runsCanvas.setPointerCapture(event.pointerId);
});

runsCanvas.addEventListener("pointermove", (event) => {
  shown.pointer = leftOf(event);
  if (!drag) return hover(event);
  const [right, down] = [event.clientX - drag.x, event.clientY - drag.y];
  if (!drag.hasMoved && Math.hypot(right, down) < 4) return;
  drag = { x: event.clientX, y: event.clientY, hasMoved: true };
  runsCanvas.classList.add("dragged");
  $("tip").hidden = true;
  pan(-right);
  scroller.scrollTop -= down;
});

function endDrag(event) {
  if (drag && !drag.hasMoved && event.type === "pointerup") {
    const run = hit(leftOf(event), heightOf(event));
    shown.focus = run;
    pin(run);
  }
  drag = null;
  runsCanvas.classList.remove("dragged");
}
runsCanvas.addEventListener("pointerup", endDrag);
runsCanvas.addEventListener("pointercancel", endDrag);

for (const canvas of [runsCanvas, axisCanvas]) {
  canvas.addEventListener("pointerleave", () => {
    shown.pointer = shown.hover = -1;
    $("tip").hidden = true;
    redraw();
  });
  canvas.addEventListener("wheel", (event) => {
    if (event.shiftKey && canvas === runsCanvas) {
      scroller.scrollTop += event.deltaY || event.deltaX;
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      pan(event.deltaX);
    } else {
      zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0018)), leftOf(event));
    }
    event.preventDefault();
  }, { passive: false });
}

runsCanvas.addEventListener("dblclick", (event) => zoomTo(hit(leftOf(event), heightOf(event))));

function zoomTo(run) {
  if (run < 0) return;
  const around = Math.max((ended[run] - created[run]) * 0.05, 10);
  look(created[run] - around, ended[run] + around);
}

function hover(event) {
  const run = hit(leftOf(event), heightOf(event)), tip = $("tip");
  if (run !== shown.hover && run >= 0) showDetails(run, tip, true);
  shown.hover = run;
  tip.hidden = run < 0;
  if (run >= 0) {
    const stage = $("stage").getBoundingClientRect(), x = event.clientX - stage.left, y = event.clientY - stage.top;
    const isLeft = x + 18 + tip.offsetWidth > stage.width;
    tip.style.left = `${Math.max(4, isLeft ? x - 18 - tip.offsetWidth : x + 18)}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 14, stage.height - tip.offsetHeight - 8))}px`;
  }
  redraw();
}

// Dragging over the axis zooms to that range.
axisCanvas.addEventListener("pointerdown", (event) => {
  axisCanvas.setPointerCapture(event.pointerId);
  shown.selection = [leftOf(event), leftOf(event)];
});
axisCanvas.addEventListener("pointermove", (event) => {
  shown.pointer = Math.min(width, leftOf(event));
  if (shown.selection) shown.selection[1] = shown.pointer;
  redraw();
});
axisCanvas.addEventListener("pointerup", () => {
  const [one, other] = shown.selection || [0, 0];
  shown.selection = null;
  if (Math.abs(one - other) > 4) look(toTime(Math.min(one, other)), toTime(Math.max(one, other)));
  redraw();
});

// MARK: The keyboard

const keys = {
  "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), "0": showEverything,
  "[": () => setRowHeight(view.rowHeight / 1.3), "]": () => setRowHeight(view.rowHeight * 1.3),
  "c": togglePath, "/": () => $("search").focus(), "z": () => zoomTo(shown.focus),
  "Escape": () => { pin(-1); shown.focus = -1; updateDetails(); redraw(); },
};
const moves = {
  ArrowLeft: () => pan(-width / 8), ArrowRight: () => pan(width / 8),
  ArrowUp: () => { scroller.scrollTop -= 3 * view.rowHeight; },
  ArrowDown: () => { scroller.scrollTop += 3 * view.rowHeight; },
  PageUp: () => { scroller.scrollTop -= height * 0.9; }, PageDown: () => { scroller.scrollTop += height * 0.9; },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === $("search")) return;
  const isHere = event.target === runsCanvas;
  const isElsewhere = event.target !== document.body && !isHere && event.target !== scroller;
  if (isHere && event.key === "Enter") pin(shown.focus);
  else if (isHere && !event.shiftKey && (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End")) {
    moveFocus(event.key);
  } else if (!isElsewhere && moves[event.key]) moves[event.key]();
  else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
});

$("search").addEventListener("input", search);
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") goToFound(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") { $("search").value = ""; search(); runsCanvas.focus(); }
});
for (const [id, action] of [
  ["zoom-in", () => zoom(1.5)], ["zoom-out", () => zoom(1 / 1.5)], ["everything", showEverything],
  ["lower", keys["["]], ["higher", keys["]"]], ["critical", togglePath], ["theme", toggleTheme],
  ["next", () => goToFound(1)], ["previous", () => goToFound(-1)],
]) $(id).addEventListener("click", action);

// MARK: Beginning

scroller.addEventListener("scroll", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
new ResizeObserver(resize).observe(scroller);
// A link may choose the theme: timeline.html#dark
if (["#dark", "#light"].includes(location.hash)) document.documentElement.dataset.theme = location.hash.slice(1);
showHeading();
showSummary();
updateDetails();
// The legend first, because it takes height from the timeline.
paint();
resize();
