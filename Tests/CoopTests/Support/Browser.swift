import Foundation
import TestSupport
import Testing

/// A page in a headless Chromium, which a test controls by the DevTools protocol.
///
/// Nothing sleeps or polls: a test waits for an event of the browser, or for a change in the page.
/// A wait that takes too long ends with the time limit of the test, which ends the browser.
struct Browser: Sendable {
  static let isInstalled = Program.installed("chromium") != nil

  let tools: DevTools
  let session: String
  private let site: PageFixture

  /// A name of this machine that only the browser knows. Unlike `localhost`, it is not secure, so the
  /// browser sends no `Sec-Fetch-Site` to it.
  static let hostName = "runs.example"

  /// Starts a browser, opens a page in it, and ends its processes after a closure.
  ///
  /// Records an issue for each message, exception and violation of the policy of the page, and for
  /// each request that failed.
  ///
  /// - Parameters:
  ///   - path: The path of the page in the site.
  ///   - expected: Parts of the messages that are no issue, such as `409` for refused actions.
  ///   - withScript: Whether the page has a script.
  static func open(
    _ path: String, of site: PageFixture, expecting expected: [String] = [],
    withScript: Bool = true, during body: (Browser) async throws -> Void
  ) async throws {
    let chromium = try #require(Program.installed("chromium")?.executable.path)
    let folder = try TemporaryFolder()
    let flags = [
      "--remote-debugging-pipe", "--headless=new", "--no-sandbox", "--disable-gpu",
      "--disable-dev-shm-usage", "--disable-breakpad", "--no-first-run", "--mute-audio",
      "--disable-background-networking", "--disable-extensions", "--window-size=1000,900",
      "--user-data-dir=\(folder.path)/profile",
      "--host-resolver-rules=MAP \(hostName) 127.0.0.1",
    ]
    // The browser reads from descriptor 3 and writes to descriptor 4.
    let program = TestProgram(
      "/bin/sh", ["-c", #"exec "$0" "$@" 3<&0 4>&0 </dev/null"#, chromium] + flags,
      environment: ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 })
    let sockets = try DevTools.sockets()
    let tools = DevTools(sockets.own)
    let input = FileHandle(fileDescriptor: sockets.browser, closeOnDealloc: true)
    let process = try program.start(input: input)
    // The browser alone has that end, so that the connection ends with it.
    try input.close()
    // The browser is the leader of the group of its processes.
    @Sendable func end() { kill(-process.processIdentifier, SIGKILL) }
    async let status = process.end()
    do {
      try await withTaskCancellationHandler {
        let browser = try await Browser(tools: tools, path, of: site, withScript)
        do { try await body(browser) } catch {
          Issue.record("the page at the error: \((try? await browser.text) ?? "")")
          throw error
        }
        let problems = browser.problems.filter { problem in
          !expected.contains { problem.contains($0) }
        }
        #expect(problems == [])
      } onCancel: {
        end()
      }
    } catch {
      end()
      _ = await status
      throw error
    }
    end()
    _ = await status
  }

  private init(
    tools: DevTools, _ path: String, of site: PageFixture, _ withScript: Bool
  ) async throws {
    (self.tools, self.site) = (tools, site)
    let target = try await tools.send("Target.createTarget", ["url": "about:blank"])
    let attached = try await tools.send(
      "Target.attachToTarget", ["targetId": target["targetId"] ?? "", "flatten": true])
    session = try #require(attached["sessionId"] as? String)
    for domain in ["Page", "Runtime", "Log", "Network"] { try await send("\(domain).enable") }
    // As in the window that the user looks at.
    try await send("Emulation.setFocusEmulationEnabled", ["enabled": true])
    try await load(path, withScript: withScript)
  }

  @discardableResult
  func send(_ method: String, _ parameters: [String: Any] = [:]) async throws -> [String: Any] {
    try await tools.send(method, parameters, to: session)
  }

  // MARK: Pages

  /// Opens a page of the site, and waits until it is loaded and, with its script, live.
  func load(_ path: String, withScript: Bool = true) async throws {
    try await waitForLoad {
      try await send("Page.navigate", ["url": site.url(path).absoluteString])
    }
    if withScript { try await untilLive() }
  }

  func untilLive() async throws {
    try await until("document.querySelector('.live:not(.lost)')")
  }

  /// Waits until an action has loaded another page.
  func waitForLoad(_ action: () async throws -> Void) async throws {
    let count = tools.events.count
    try await action()
    _ = try await tools.event("Page.loadEventFired", after: count)
  }

  /// The text of the page as it is shown.
  var text: String {
    get async throws { try await value("document.body.innerText") }
  }

  /// The messages of the console, exceptions, violations of the policy, and failed requests.
  var problems: [String] {
    tools.events.compactMap { event in
      guard
        [
          "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
          "Page.javascriptDialogOpening",
        ].contains(event.method)
      else { return nil }
      return String(decoding: event.message, as: UTF8.self)
    }
  }

  // MARK: Scripts

  /// Evaluates an expression in the page, and waits for its promise.
  @discardableResult
  func evaluate(_ script: String) async throws -> Any? {
    let reply = try await send(
      "Runtime.evaluate", ["expression": script, "awaitPromise": true, "returnByValue": true])
    if let details = reply["exceptionDetails"] as? [String: Any] {
      let exception = details["exception"] as? [String: Any]
      let text = exception?["description"] ?? details["text"] ?? ""
      throw BrowserError(description: "\(text) in \(script)")
    }
    return (reply["result"] as? [String: Any])?["value"]
  }

  /// The value of an expression in the page.
  func value<Value>(_ script: String, as type: Value.Type = Value.self) async throws -> Value {
    let value = try await evaluate(script)
    return try #require(value as? Value, "\(script) is \(value ?? "nothing")")
  }

  /// Waits until a condition is true in the page, also if it loads another page meanwhile.
  func until(_ condition: String) async throws {
    let script = """
      new Promise((done) => {
        const events = ["focusin", "focusout", "input", "toggle", "load", "scroll"];
        const check = () => {
          if (!(\(condition))) return;
          observer.disconnect();
          for (const name of events) document.removeEventListener(name, check, true);
          done(true);
        };
        const observer = new MutationObserver(check);
        observer.observe(document,
          { subtree: true, childList: true, attributes: true, characterData: true });
        for (const name of events) document.addEventListener(name, check, true);
        check();
      })
      """
    while true {
      do {
        try await evaluate(script)
        return
      } catch let error as BrowserError {
        let text = error.description
        guard ["navigated", "destroyed", "context"].contains(where: text.contains) else {
          throw BrowserError(description: "\(text), while waiting for \(condition)")
        }
      }
    }
  }
}

extension String {
  /// The text as an expression of a script.
  var quotedForScript: String {
    let data = try? JSONSerialization.data(withJSONObject: self, options: .fragmentsAllowed)
    return String(decoding: data ?? Data(), as: UTF8.self)
  }
}
