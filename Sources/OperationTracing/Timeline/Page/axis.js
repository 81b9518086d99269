function eachTick(step, draw) {
  if (count === 0) return;
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) draw(toX(time), time);
}

// Draws the concurrency above the times.
function drawAxis(step) {
  const wide = axisCanvas.width / ratio, chart = 58, most = Math.max(1, trace.most);
  axis.setTransform(ratio, 0, 0, ratio, 0, 0);
  axis.fillStyle = colors.page;
  axis.fillRect(0, 0, wide, 84);
  axis.save();
  axis.beginPath();
  axis.rect(0, 0, width, 84);
  axis.clip();
  axis.fillStyle = colors.area;
  axis.beginPath();
  axis.moveTo(toX(trace.from), chart);
  trace.concurrency.forEach((level, index) => {
    const top = chart - level / most * (chart - 18);
    axis.lineTo(toX(trace.from + index * trace.bucket), top);
    axis.lineTo(toX(Math.min(trace.to, trace.from + (index + 1) * trace.bucket)), top);
  });
  axis.lineTo(toX(trace.to), chart);
  axis.fill();
  axis.font = font;
  axis.textBaseline = "middle";
  axis.fillStyle = colors.line;
  axis.fillRect(0, chart, width, 1);
  eachTick(step, (x, time) => {
    axis.fillStyle = colors.line;
    axis.fillRect(Math.round(x), chart, 1, 26);
    axis.fillStyle = colors.faint;
    const text = moment(time, step);
    if (x + 5 + axis.measureText(text).width < width) axis.fillText(text, x + 5, chart + 14);
  });
  axis.fillStyle = colors.faint;
  axis.fillText(trace.bucket > 0 ? `concurrent leaf runs: ${number(trace.most)} at most` : "", 6, 9);
  drawPointer(chart, step);
  axis.restore();
}

function drawPointer(chart, step) {
  if (shown.selection) {
    const [one, other] = shown.selection;
    axis.globalAlpha = 0.3;
    axis.fillStyle = colors.accent;
    axis.fillRect(Math.min(one, other), 0, Math.abs(one - other), 84);
    axis.globalAlpha = 1;
  }
  if (shown.pointer < 0) return;
  const time = toTime(shown.pointer), index = Math.floor((time - trace.from) / trace.bucket);
  const level = trace.concurrency[index];
  const text = moment(time, step / 100) + (level === undefined ? "" : `, ${Number(level.toFixed(1))} concurrent`);
  const wide = axis.measureText(text).width + 12;
  const left = Math.min(Math.max(0, shown.pointer - wide / 2), width - wide);
  axis.fillStyle = colors.faint;
  axis.fillRect(Math.round(shown.pointer), 18, 1, 66);
  axis.fillStyle = colors.ink;
  axis.fillRect(left, chart + 4, wide, 20);
  axis.fillStyle = colors.page;
  axis.fillText(text, left + 6, chart + 14);
}
