import Foundation
import TestSupport
import Testing

/// The script of the page in node, with the few parts of a browser that its clock needs.
struct PageScript {
  static let isPossible = Program.installed("node") != nil

  private let text: String

  /// - Parameter text: Uses `element`, which makes an element of the page; `at`, the text of a time some seconds from
  ///   now; `send`, an event of the server; `pass`, after which some seconds have passed; and `print`.
  init(_ text: String) { self.text = text }

  /// Runs the text after the script of the page.
  ///
  /// - Returns: The output.
  func run() async throws -> String {
    let folder = try TemporaryFolder()
    let sources = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    let page = try String(
      contentsOfFile: sources + "/Sources/RunPage/Files/page.js", encoding: .utf8)
    try folder.write(Self.browser + page + text, to: "page.js")
    let node = try #require(Program.installed("node", folder.path + "/page.js"))
    let result = try await node.run()
    return result.text + result.error
  }

  private static let browser = """
    let clock = Date.UTC(2026, 11, 2);
    Date.now = () => clock;
    const elements = [], handlers = {}, timers = [];
    const camel = (name) => name.slice(5).replace(/-(.)/g, (_, letter) => letter.toUpperCase());
    const element = (attributes) => {
      const dataset = {};
      for (const name in attributes) if (name.startsWith("data-")) dataset[camel(name)] = attributes[name];
      const made = { dataset, textContent: "", getAttribute: (name) => attributes[name] ?? null };
      elements.push(made);
      return made;
    };
    const live = { className: "", textContent: "" };
    const main = {
      addEventListener() {},
      querySelectorAll: (selector) =>
        elements.filter((made) => made.getAttribute(selector.slice(1, -1)) !== null),
    };
    globalThis.document = {
      body: { dataset: { now: new Date(clock).toISOString() } }, hidden: false, addEventListener() {},
      getElementById: () => ({ textContent: "" }),
      querySelector: (selector) => selector === "main" ? main : selector === ".live" ? live : null,
    };
    globalThis.location = { pathname: "/", search: "" };
    globalThis.sessionStorage = { getItem: () => null };
    globalThis.addEventListener = () => {};
    globalThis.EventSource = class { addEventListener(name, handler) { handlers[name] = handler; } };
    globalThis.setInterval = (body) => { timers.push(body); };
    const at = (seconds) => new Date(clock + seconds * 1000).toISOString();
    const send = (name, data) => handlers[name]({ data });
    const pass = (seconds) => { clock += seconds * 1000; for (const body of timers) body(); };
    const print = (value) => console.log(JSON.stringify(value));

    """
}
