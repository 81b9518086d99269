// Everything from the trace is set as text, never as markup.
function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function list(pairs) {
  const made = document.createElement("dl");
  for (const [key, value] of pairs) made.append(element("dt", key), element("dd", value));
  return made;
}

const exact = (time) => time < 0 ? "never" : `${moment(time, 1e3)}`;

function endOf(run) {
  const kind = kindOf[run], reason = reasons.get(run);
  if (kind === CANCELLED && reason !== undefined) return `cancelled because ${reason}`;
  return kinds[kind].name;
}

function waitedTime(run) {
  const parts = [[created[run], started[run] < 0 ? ended[run] : started[run]]];
  for (const wait of waits.get(run) || []) parts.push([wait.from, wait.end]);
  parts.sort((one, other) => one[0] - other[0]);
  let sum = 0, now = created[run];
  for (const [from, to] of parts) {
    sum += Math.max(0, Math.min(to, ended[run]) - Math.max(from, now));
    now = Math.max(now, to);
  }
  return sum;
}

function showDetails(run, place, isBrief) {
  place.replaceChildren();
  const name = element("p", titleOf(run), "name");
  name.dir = "auto";
  place.append(name);
  const goesOn = kindOf[run] === UNFINISHED;
  const pairs = [
    ["outcome", endOf(run)],
    [goesOn ? "so far" : "took", readable(ended[run] - created[run])],
    ["waited", readable(waitedTime(run))],
    ["created", exact(created[run])], ["started", exact(started[run])],
    ["ended", goesOn ? "not yet" : exact(ended[run])],
    ["attempt", String(attempts.get(run) || 1)],
    ["path", pathOf(run)], ["run", `#${trace.ids[run]}`],
    ...(attributes.get(run) || []).slice(0, isBrief ? 4 : 100),
  ];
  place.append(list(pairs));
  if (kindOf[run] === ERROR) place.append(element("pre", reasons.get(run)));
  const log = (title, lines) => {
    if (lines.length === 0) return;
    place.append(element("h3", title));
    const made = element("ul", "", "log");
    for (const [time, text] of lines.slice(0, isBrief ? 4 : 200)) {
      const line = document.createElement("li");
      line.append(element("span", time), element("span", text));
      made.append(line);
    }
    if (isBrief && lines.length > 4) made.append(element("li", `${lines.length - 4} more`));
    place.append(made);
  };
  log("Waits", (waits.get(run) || []).map((wait) =>
    [readable(wait.end - wait.from), `for ${wait.kind}` + (wait.to < 0 ? ", to the end" : "")]));
  log("Notes", (notes.get(run) || []).map((note) =>
    [moment(note.time, 1e3), (note.level ? `${note.level}: ` : "") + note.text]));
}

function spoken(run) {
  const kind = kindOf[run];
  return [titleOf(run), endOf(run), kind === ERROR ? reasons.get(run) : "",
    `took ${readable(ended[run] - created[run])}`, `waited ${readable(waitedTime(run))}`,
    `created at ${exact(created[run])}`, `path ${pathOf(run)}`].filter(Boolean).join(", ");
}

// Shows the details of the pinned run, or else of the focused one.
function updateDetails() {
  const run = shown.pinned >= 0 ? shown.pinned : shown.focus;
  $("details-title").textContent = shown.pinned >= 0 ? "Run, pinned (Esc unpins)" : "Run";
  if (run >= 0) showDetails(run, $("details"), false);
  else $("details").replaceChildren(element("p", "Hover over a run to see its details; click the run to pin them here.", "hint"));
}

function pick(run, right) {
  const button = element("button", "", "pick");
  const name = element("span", titleOf(run));
  name.dir = "auto";
  button.append(name, element("span", right));
  button.addEventListener("click", () => { reveal(run); pin(run); });
  return button;
}

function swatch(kind, isWaiting) {
  const canvas = document.createElement("canvas");
  canvas.width = 26 * ratio;
  canvas.height = 14 * ratio;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.fillStyle = isWaiting ? patterns.waiting[kind] : colors.kinds[kind];
  context.fillRect(0, 0, 26, 14);
  if (!isWaiting && kind >= CANCELLED) {
    context.fillStyle = kind === CANCELLED ? patterns.cancelled : patterns.unfinished;
    context.fillRect(0, 0, 26, 14);
  }
  if (isWaiting || kind === ERROR || kind === UNFINISHED) {
    context.strokeStyle = kind === ERROR ? colors.ink : isWaiting ? colors.kinds[kind] : colors.faint;
    context.lineWidth = kind === ERROR ? 1.5 : 1;
    if (kind === UNFINISHED) context.setLineDash([3, 2]);
    context.strokeRect(0.75, 0.75, 24.5, 12.5);
  }
  if (!isWaiting && kinds[kind].icon) {
    context.fillStyle = colors.label;
    context.font = font;
    context.textBaseline = "middle";
    context.textAlign = "center";
    context.fillText(kinds[kind].icon.trim(), 13, 7.5);
  }
  return canvas;
}

function showLegend() {
  const items = [RESULT, ERROR, CANCELLED, UNFINISHED].map((kind) => {
    const item = document.createElement("li");
    item.append(swatch(kind, false), `${kinds[kind].name} (${number(kindCounts[kind])})`);
    return item;
  });
  const waiting = document.createElement("li");
  waiting.append(swatch(RESULT, true), "not started yet, or waiting");
  $("legend").replaceChildren(...items, waiting);
}

function showSummary() {
  const place = $("summary");
  place.replaceChildren();
  const share = trace.wall > 0 ? ` (${Math.round(trace.pathWaited / trace.wall * 100)} % of the wall time)` : "";
  place.append(list([
    ["wall time", readable(trace.wall)], ["busy", `${readable(trace.busy)}, in leaf runs`],
    ["waited", `${readable(trace.waited)}, in leaf runs`],
    ["concurrency", `${number(trace.average[0])} on average, ${number(trace.most)} at most`],
    ["runs", number(count)], ["leaf runs", number(trace.leaves)], ["retries", number(trace.retries)],
  ].concat(trace.dropped > 0 ? [["dropped", `${number(trace.dropped)} events`]] : [])));
  const section = (title, rows) => {
    if (rows.length > 0) place.append(element("h3", title), ...rows);
  };
  const stretches = [];
  for (let at = 0; at < pathLength; at++) stretches.push(trace.path.slice(3 * at, 3 * at + 3));
  const longest = stretches.slice().sort((one, other) => (other[2] - other[1]) - (one[2] - one[1])).slice(0, 10);
  section("Critical path" + (pathLength > 10 ? `, 10 longest of ${number(pathLength)}` : ""), [
    ...(pathLength > 0 ? [element("p", `waiting: ${readable(trace.pathWaited)}${share}`, "hint")] : []),
    ...longest.sort((one, other) => one[1] - other[1]).map(([run, from, to]) => pick(run, readable(to - from))),
  ]);
  const waiting = [];
  for (let at = 0; at < trace.longestWaits.length; at += 3) {
    const [run, kind, time] = trace.longestWaits.slice(at, at + 3);
    waiting.push(pick(run, `${kind < 0 ? "its start" : trace.texts[kind].slice(0, 24)}  ${readable(time)}`));
  }
  section("Longest waits", waiting);
  section("Longest leaf runs", trace.longestRuns.map((run) => pick(run, readable(ended[run] - created[run]))));
}

function showHeading() {
  $("title").textContent = trace.title;
  $("title").title = trace.title;
  const when = new Date(trace.beginning + trace.from / 1e6);
  const date = when.toISOString().replace("T", " ").slice(0, 19);
  $("subtitle").textContent = count === 0 ? "no runs"
    : `${number(count)} run${count === 1 ? "" : "s"} in ${readable(trace.wall)}, from ${date} UTC`;
  $("empty").hidden = count > 0;
}
