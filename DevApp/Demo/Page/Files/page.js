"use strict";
// Keeps the page as the server has it, sends actions without leaving the page, and copies values. Without
// this script, the page is a document with links and forms.
(() => {
  const main = document.querySelector("main");
  const light = document.querySelector(".live");
  const address = () => location.pathname + location.search;

  // What the reader has opened and entered stays.
  function replace(html) {
    const focused = document.activeElement?.id;
    const open = [...main.querySelectorAll("details[open][id]")].map((element) => element.id);
    const fields = [...main.querySelectorAll("[data-keep]")].map((field) => [field.id, field.value]);
    // Without the style, whose mark the browser does not accept in another document. The tags are not in
    // the data, in which they are escaped.
    const part = (tag) => html.slice(html.indexOf(`<${tag}`), html.indexOf(`</${tag}>`));
    const next = new DOMParser().parseFromString(part("title") + "</title>" + part("main"), "text/html");
    main.replaceChildren(...document.importNode(next.querySelector("main"), true).childNodes);
    document.title = next.title;
    for (const id of open) {
      const element = document.getElementById(id);
      if (element) element.open = true;
    }
    for (const [id, value] of fields) {
      const field = document.getElementById(id);
      if (field) field.value = value;
    }
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  let isLoading = false;
  let isOutdated = false;
  // A server that counts many runs has nine tenths of its time for others.
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const isEntering = () => main.contains(document.activeElement) &&
    document.activeElement.matches("input, textarea, select");
  async function update() {
    // A field that is replaced would lose the position of its cursor.
    if (isLoading || isEntering()) { isOutdated = true; return; }
    isLoading = true;
    const start = performance.now();
    try {
      const response = await fetch(address(), { headers: { Accept: "text/html" } });
      if (response.ok || response.status === 404) replace(await response.text());
    } catch { /* The stream of events reports a lost server. */ }
    await pause(Math.min(5000, 9 * (performance.now() - start)));
    isLoading = false;
    if (isOutdated) { isOutdated = false; update(); }
  }

  main.addEventListener("focusout", () => setTimeout(() => {
    if (isOutdated && !isEntering()) { isOutdated = false; update(); }
  }));

  const events = new EventSource("/events");
  let first = true;
  events.addEventListener("open", () => {
    light.className = "live";
    light.textContent = "live";
    // What has changed while the server could not be reached.
    if (!first) update();
    first = false;
  });
  events.addEventListener("change", update);
  events.addEventListener("error", () => {
    light.className = "live lost";
    light.textContent = "no connection to the server";
  });
  addEventListener("pagehide", () => events.close());

  function show(text, failed) {
    const notice = document.getElementById("notice");
    notice.className = failed ? "notice failed" : "notice";
    notice.textContent = text;
  }

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    event.preventDefault();
    const button = event.submitter;
    if (button) button.disabled = true;
    try {
      const response = await fetch(form.action, {
        method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams(new FormData(form)),
      });
      const answer = await response.json();
      show(answer.done ?? answer.error, !response.ok);
      if (response.ok) {
        form.closest("details")?.removeAttribute("open");
        if (answer.location) { location.assign(answer.location); return; }
      }
    } catch { show("The server did not answer; look whether the action was done.", true); }
    if (button) button.disabled = false;
    update();
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
