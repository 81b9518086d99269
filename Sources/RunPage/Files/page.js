"use strict";
// Keeps the page as the server has it, sends actions without leaving the page, and copies values. Without
// this script, the page is a document with links and forms.
(() => {
  const main = document.querySelector("main");

  // The state of the connection, as the server has shown it last. It is old after 30 seconds: a server that is
  // stopped, or a machine that has slept, closes no connection.
  const silence = 30;
  let status = { text: "not live: reload to see changes", isLost: true };
  let heard = 0;
  function light(text, isLost = false) {
    status = { text, isLost };
    if (!isLost) heard = Date.now();
    showStatus();
  }
  function showStatus() {
    const isOld = !status.isLost && Math.abs(Date.now() - heard) > silence * 1000;
    // Without a number that changes, which a screen reader would read aloud each second.
    const text = isOld ? `nothing heard from the server for more than ${silence} s` : status.text;
    const element = document.querySelector(".live");
    element.className = status.isLost || isOld ? "live lost" : "live";
    if (element.textContent !== text) element.textContent = text;
  }

  // The clock of the server, by which the page counts.
  let ahead = Date.now() - Date.parse(document.body.dataset.now);
  const age = (seconds) =>
    seconds < 60 ? `${Math.floor(seconds)} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min`
    : seconds < 86400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
  function duration(seconds) {
    const parts = (major, unit, minor, small) => minor ? `${major} ${unit} ${minor} ${small}` : `${major} ${unit}`;
    const whole = Math.floor(seconds);
    if (whole < 60) return `${whole} s`;
    const minutes = Math.floor(whole / 60);
    return whole < 3600 ? parts(minutes, "min", whole % 60, "s") : parts(Math.floor(minutes / 60), "h", minutes % 60, "min");
  }
  function tick() {
    const now = Date.now() - ahead;
    const count = (name, text, sign = 1) => {
      for (const element of main.querySelectorAll(`[${name}]`)) {
        const since = element.getAttribute(name) || element.getAttribute("datetime");
        const value = (element.dataset.before ?? "") + text(Math.max(0, sign * (now - Date.parse(since)) / 1000));
        if (element.textContent !== value) element.textContent = value;
      }
    };
    count("data-ago", (seconds) => `${age(seconds)} ago`);
    count("data-since", duration);
    count("data-until", duration, -1);
    showStatus();
  }
  setInterval(tick, 1000);

  const notice = document.getElementById("notice");
  const address = () => location.pathname + location.search;

  // What an element stands for: the same elements of the old and the new page have the same key.
  const keyOf = (node) => node.id || node.dataset?.key || (node.localName === "option" ? node.value : "");
  const isBlank = (node) => node.nodeType === Node.TEXT_NODE && !node.data.trim();
  // Whether the reader has opened a form, which stays until an answer or until it is closed.
  const isOpenForm = (node) => node.localName === "details" && node.open && node.parentNode.matches(".actions");

  // Changes an element into another one with the same key. The parts that are the same stay in the page, and
  // with them the focus, the selection, the entered text, and a pressed button.
  function merge(old, next, keepsForms) {
    if (old.isEqualNode(next)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) { old.data = next.data; return; }
    // What the reader has closed stays closed. An element that the server has opened has a mark. An update
    // closes none, because the reader may be reading it.
    const isDetails = old.localName === "details";
    const isChosen = isDetails && old.open !== ("open" in old.dataset);
    for (const { name } of [...old.attributes]) {
      if (!next.hasAttribute(name) && !(isDetails && name === "open")) old.removeAttribute(name);
    }
    for (const { name, value } of next.attributes) {
      if (old.getAttribute(name) !== value && !(isChosen && name === "open")) old.setAttribute(name, value);
    }
    mergeChildren(old, next, keepsForms);
  }

  function mergeChildren(old, next, keepsForms) {
    const keys = new Set([...next.childNodes].map(keyOf));
    const known = new Map([...old.childNodes].map((node) => [keyOf(node), node]));
    const isGone = (node) => keyOf(node) && !keys.has(keyOf(node)) && !(keepsForms && isOpenForm(node));
    for (const node of [...old.childNodes]) if (isGone(node)) node.remove();
    let at = old.firstChild;
    for (const node of next.childNodes) {
      const key = keyOf(node);
      let same = key ? known.get(key) : at;
      if (!key) {
        while (same && !isBlank(node) && isBlank(same)) same = same.nextSibling;
        while (same && (keyOf(same) || same.nodeName !== node.nodeName)) same = same.nextSibling;
      }
      if (same) {
        while (at !== same && at && isBlank(at)) { at = at.nextSibling; at.previousSibling.remove(); }
        if (at === same) at = at.nextSibling; else old.insertBefore(same, at);
        merge(same, node, keepsForms);
      } else {
        old.insertBefore(document.importNode(node, true), at);
      }
    }
    while (at) {
      const following = at.nextSibling;
      if (!(keepsForms && isOpenForm(at))) at.remove();
      at = following;
    }
  }

  // The end of a log is shown, unless the reader has scrolled to another part of it.
  const isFollowed = (element) => element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
  const logs = () => [...main.querySelectorAll("[data-follow]")];
  const follow = (elements) => { for (const element of elements) element.scrollTop = element.scrollHeight; };
  main.addEventListener("toggle", (event) => {
    if (event.target.open) follow(event.target.querySelectorAll("[data-follow]"));
  }, true);
  follow(logs());

  function replace(html, keepsForms) {
    // Without the style, whose mark the browser does not accept in another document. The tags are not in
    // the data, in which they are escaped.
    const part = (tag) => html.slice(html.indexOf(`<${tag}`), html.indexOf(`</${tag}>`));
    const next = new DOMParser().parseFromString(part("title") + "</title>" + part("main"), "text/html");
    const hadFocus = main.contains(document.activeElement);
    const followed = logs().filter(isFollowed);
    mergeChildren(main, next.querySelector("main"), keepsForms);
    document.title = next.title;
    follow(followed);
    // The focused element is gone: Tab continues from the message or the contents.
    if (hadFocus && !main.contains(document.activeElement)) (notice.textContent ? notice : main).focus();
  }

  let isLoading = false;
  let isOutdated = false;
  // A server that counts many runs has nine tenths of its time for others.
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  // The forms whose answers are not there yet. The page is updated after them.
  const sending = new Set();
  // Whether the server has answered to a form: those that the new state does not allow are removed.
  let isAnswered = false;
  async function update() {
    if (isLoading || sending.size > 0) { isOutdated = true; return; }
    isLoading = true;
    const start = performance.now();
    const keepsForms = !isAnswered;
    isAnswered = false;
    try {
      const response = await fetch(address(), { headers: { Accept: "text/html" } });
      const html = await response.text();
      if (response.ok || response.status === 404) replace(html, keepsForms);
      if (response.status === 404) show("The run was forgotten.", true);
      if (response.status < 500) light("live"); else light("the store cannot be read", true);
      tick();
    } catch { /* The stream of events reports a lost server. */ }
    await pause(Math.min(5000, 9 * (performance.now() - start)));
    isLoading = false;
    if (isOutdated) { isOutdated = false; await update(); }
  }

  // A hidden page has no stream: a browser opens only six connections to a server at the same time.
  let events = null;
  function listen() {
    events = new EventSource("/events" + (location.pathname === "/run" ? location.search : ""));
    events.addEventListener("open", () => light("live"));
    // The first one tells the state at the beginning.
    events.addEventListener("change", update);
    events.addEventListener("alive", (event) => {
      ahead = Date.now() - Number(event.data);
      heard = Date.now();
      showStatus();
    });
    events.addEventListener("error", () => light("no connection to the server", true));
  }
  function leave() { events?.close(); events = null; }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) leave(); else if (!events) listen();
  });
  addEventListener("pagehide", leave);
  // Also when the browser shows the page again that it has kept.
  addEventListener("pageshow", () => { if (!events && !document.hidden) listen(); });
  if (!document.hidden) listen();

  function show(text, failed) {
    notice.className = failed ? "notice failed" : "notice";
    notice.textContent = text;
  }

  // What an action on the page before has done.
  const done = sessionStorage.getItem("notice");
  if (done) { sessionStorage.removeItem("notice"); show(done, false); }

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    event.preventDefault();
    if (sending.has(form)) return;
    sending.add(form);
    try {
      const response = await fetch(form.action, {
        method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams(new FormData(form)),
      });
      const answer = await response.json();
      show(answer.done ?? answer.error, !response.ok);
      if (response.ok) {
        if (answer.location) {
          sessionStorage.setItem("notice", answer.done);
          leave();
          location.assign(answer.location);
          return;
        }
        const details = form.closest("details");
        details.open = false;
        form.reset();
        details.querySelector("summary").focus({ preventScroll: true });
      }
    } catch { show("The server did not answer; look whether the action was done.", true); }
    sending.delete(form);
    isAnswered = true;
    await update();
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch { button.textContent = "Not copied"; }
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    const field = document.getElementById("text");
    if (field) { field.focus(); event.preventDefault(); }
  });
})();
