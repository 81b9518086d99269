import DurableOperations
import Foundation
import TestSupport
import Testing

/// The page of runs in a browser.
///
/// One at a time, because a browser has a dozen processes.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: PageFixture.isPossible && Browser.isInstalled)
) struct BrowserTests {
  func journal() async throws -> JournalFixture {
    let journal = try JournalFixture()
    try await journal.startParked("order/7")
    try await journal.startFailed("failed")
    try await journal.store.start(Packing(), named: "ready")
    return journal
  }

  /// Opens a page of a journal in a browser, while a server shows the journal.
  func open(
    _ path: String, of journal: JournalFixture, expecting expected: String? = nil,
    during body: (Browser) async throws -> Void
  ) async throws {
    _ = try await PageFixture.serving(journal) { site in
      try await Browser.open(
        path, of: site, expecting: expected.map { [$0] } ?? [], during: body)
    }
  }

  /// Whether the page of a run shows a state.
  func showsState(_ state: RunState) -> String {
    "document.querySelector('dd .state')?.textContent === '\(state.rawValue)'"
  }

  func noticeHas(_ text: String) -> String {
    "document.getElementById('notice').textContent.includes(\(text.quotedForScript))"
  }

  func isShown(_ selector: String) -> String {
    "!!document.querySelector('\(selector)')?.checkVisibility({ contentVisibilityAuto: true })"
  }

  // MARK: Access

  @Test func `A1: at a name of the machine, the token opens the page, and its forms act`()
    async throws
  {
    let journal = try await journal()
    let file = journal.folder.path + "/token"
    try PageFixture.writeToken("0123456789abcdef\n", to: file)
    _ = try await PageFixture.serving(
      journal, "--token-file", file, "--host", Browser.hostName
    ) { site in
      #expect(site.url.host() == Browser.hostName)
      // Without the token, the browser gets no icon.
      let expected = ["Cross-Origin-Opener-Policy", "401 (Unauthorized)", "username fields"]
      try await Browser.open(
        "/run?id=order%2F7", of: site, expecting: expected, withScript: false
      ) { browser in
        #expect(try await browser.text.contains("This page needs a token."))
        try await browser.fill("#token", "wrong")
        try await browser.waitForLoad { try await browser.press("Enter") }
        #expect(try await browser.text.contains("The token is wrong."))
        try await browser.fill("#token", "0123456789abcdef")
        try await browser.waitForLoad { try await browser.press("Enter") }
        try await browser.untilLive()
        #expect(
          try await browser.value("document.querySelector('h1').innerText") == "Runs / order/7")
        try await browser.send("Emulation.setScriptExecutionDisabled", ["value": true])
        try await browser.load("/run?id=order%2F7", withScript: false)
        try await browser.click("#cancel summary")
        try await browser.waitForLoad { try await browser.click("#cancel button") }
        #expect(try await browser.value(showsState(.cancelled)) == true)
      }
      #expect(try await journal.state(of: "order/7") == .cancelled)
    }
  }

  // MARK: Reading

  @Test func `A8: the list is filtered by state, flow and typed text, and opens a run`()
    async throws
  {
    let journal = try await journal()
    try await open("/", of: journal) { browser in
      #expect(try await Set(browser.names) == ["order/7", "failed", "ready"])
      let counts: [String] = try await browser.value(
        "[...document.querySelectorAll('.states a')].map((link) => link.innerText)")
      #expect(counts.contains("all 3"))
      #expect(counts.filter { $0.hasSuffix("parked 1") || $0.hasSuffix("result 0") }.count == 2)
      try await browser.waitForLoad { try await browser.click("a[href='/?state=parked']") }
      #expect(try await browser.names == ["order/7"])
      try await browser.load("/")
      try await browser.click("#text")
      try await browser.type("ORD")
      try await browser.waitForLoad { try await browser.press("Enter") }
      #expect(try await browser.names == ["order/7"])
      #expect(try await browser.value("document.getElementById('text').value") == "ORD")
      try await browser.load("/")
      try await browser.evaluate("document.getElementById('flow').focus()")
      try await browser.type("P")
      try await browser.waitForLoad { try await browser.click("form.filter button") }
      #expect(try await browser.names == ["ready"])
      try await browser.load("/")
      try await browser.waitForLoad { try await browser.click("a[href='/run?id=order%2F7']") }
      #expect(try await browser.value("document.querySelector('h1').innerText") == "Runs / order/7")
      // The picture of the steps.
      try await browser.until("document.querySelector('.timeline img').naturalWidth > 0")
      #expect(try await browser.picture().count > 10_000)
    }
  }

  // MARK: Actions

  @Test func `A7: each action asks once, and shows what it has done`() async throws {
    let journal = try await journal()
    try await journal.startParked("waiting")
    try await open("/run?id=waiting", of: journal, expecting: "400 (Bad Request)") { browser in
      for action in ["cancel", "send", "retry"] {
        #expect(try await browser.value(isShown("#\(action) button")) == false)
      }
      try await browser.click("#send summary")
      #expect(try await browser.value("document.getElementById('event').value") == "approved")
      try await browser.fill("#payload", "{")
      try await browser.click("#send button")
      try await browser.until(noticeHas("is not JSON"))
      // The text can be corrected.
      #expect(try await browser.value("document.getElementById('payload').value") == "{")
      try await browser.fill("#payload", #"{"isGranted":true}"#)
      try await browser.click("#send button")
      try await browser.until(noticeHas("The event 'approved' was sent."))
      try await browser.until(showsState(.ready))
      #expect(try journal.text("SELECT payload FROM event") == #"{"isGranted":true}"#)

      try await browser.load("/run?id=failed")
      try await browser.click("#retry summary")
      try await browser.fill("#step", "0")
      try await browser.click("#retry button")
      try await browser.until(noticeHas("The run is ready"))
      try await browser.until(showsState(.ready))

      try await browser.load("/run?id=order%2F7")
      try await browser.click("#cancel summary")
      try await browser.fill("#reason", "no <b>stock")
      try await browser.click("#cancel button")
      try await browser.until(noticeHas("The cancellation is requested."))
      try await browser.until(showsState(.cancelled))
      #expect(try await journal.store.run("order/7")?.summary.reason == "no <b>stock")
      try await browser.until("!document.getElementById('cancel')")
      try await browser.click("#forget summary")
      try await browser.waitForLoad { try await browser.click("#forget button") }
      #expect(try await browser.value(noticeHas("The run is deleted.")) == true)
      #expect(try await Set(browser.names) == ["failed", "ready", "waiting"])
    }
  }

  @Test func `A7: an action that the run no longer allows is refused, and loses no text`()
    async throws
  {
    let journal = try await journal()
    try await open("/run?id=order%2F7", of: journal, expecting: "409 (Conflict)") { browser in
      try await browser.click("#send summary")
      try await browser.fill("#payload", "12")
      try await browser.click("#cancel summary")
      try await browser.fill("#reason", "too late")
      // Another process makes it ready, and then ends it.
      try await journal.store.send(Approval(isGranted: true), as: "approved", to: "order/7")
      try await browser.until(showsState(.ready))
      try await browser.until("!document.getElementById('retry')")
      #expect(try await browser.value("document.getElementById('payload').value") == "12")
      #expect(try await browser.focus == "input reason")
      try await journal.store.cancel("order/7", because: "sold out")
      try await browser.until(showsState(.cancelled))
      #expect(try await browser.value("document.getElementById('reason').value") == "too late")
      #expect(try await browser.focus == "input reason")
      try await browser.type(".")
      try await browser.click("#cancel button")
      try await browser.until(noticeHas("the run has already ended (cancelled)"))
      try await browser.until("!document.getElementById('cancel')")
      try await browser.until("document.activeElement.id === 'notice'")
      #expect(try await journal.store.run("order/7")?.summary.reason == "sold out")
      // The page is still of use.
      try await browser.click("#retry summary")
      try await browser.click("#retry button")
      try await browser.until(showsState(.ready))
    }
  }

  // MARK: Changes

  // From a commit to the changed page, on two cores that also compiled: 0.25 s in the median of the 10
  // changes of the list, 0.29 s at most. The server compares versions every 0.25 s.
  @Test func `A8: an open page shows commits of other processes, and keeps what the reader does`()
    async throws
  {
    let journal = try await journal()
    try journal.execute("UPDATE step SET sequence = '{}' WHERE run = 'order/7'")
    // The last answer says that the run was forgotten.
    try await open("/?flow=Fulfilment", of: journal, expecting: "/run?id=order%2F7") { browser in
      let link = "a[href='/run?id=failed']"
      try await browser.evaluate("document.querySelector(\"\(link)\").focus()")
      for number in 1...10 {
        try await journal.store.start(Fulfilment(), named: "new \(number)")
        try await browser.until("document.querySelectorAll('td.run').length === \(number + 2)")
      }
      #expect(try await browser.focus == "a failed")
      #expect(try await !browser.names.contains("ready"))
      // A text that is typed.
      try await browser.click("#text")
      try await browser.type("ab")
      try await journal.store.cancel("new 1")
      try await browser.until("document.querySelectorAll('td .cancelled').length === 1")
      try await browser.type("c")
      #expect(try await browser.value("document.getElementById('text').value") == "abc")
      // A pressed button of the mouse.
      try await browser.moveTo(link) { point in
        try await browser.pointer("mouseMoved", at: point)
        try await browser.pointer("mousePressed", at: point)
        try await journal.store.cancel("new 2")
        try await browser.until("document.querySelectorAll('td .cancelled').length === 2")
        try await browser.waitForLoad { try await browser.pointer("mouseReleased", at: point) }
      }
      #expect(try await browser.value("document.querySelector('h1').innerText") == "Runs / failed")
      // Opened details and selected text.
      try await browser.load("/run?id=order%2F7")
      try await browser.click("#state-0 summary")
      try await browser.evaluate("getSelection().selectAllChildren(document.querySelector('pre'))")
      let selection: String = try await browser.value("String(getSelection())")
      try await journal.store.cancel("order/7")
      try await browser.until(showsState(.cancelled))
      #expect(try await browser.value(isShown("#state-0 pre")) == true)
      #expect(try await browser.value("String(getSelection())") == selection)
      #expect(!selection.isEmpty)
      try await journal.store.forget("order/7")
      try await browser.until(noticeHas("The run was forgotten."))
    }
  }
}

extension Browser {
  /// The names of the runs in the list.
  var names: [String] {
    get async throws {
      try await value("[...document.querySelectorAll('td.run')].map((cell) => cell.innerText)")
    }
  }
}
