import DurableOperations
import Foundation
import TestSupport
import Testing

/// The page of runs for every reader: by keys, in both modes, on a narrow screen, without a script.
extension BrowserTests {
  @Test func `A8: keys alone find, open and cancel a run, and the focus is always visible`()
    async throws
  {
    let journal = try await journal()
    try await open("/", of: journal) { browser in
      func expectVisibleFocus() async throws {
        let outline: [String] = try await browser.value(
          """
          [document.activeElement.localName, getComputedStyle(document.activeElement).outlineStyle,
            getComputedStyle(document.activeElement).outlineWidth]
          """)
        #expect(outline[0] != "body" && outline[1] == "solid" && outline[2] == "3px", "\(outline)")
      }
      try await browser.press("/")
      #expect(try await browser.focus == "input text")
      try await browser.type("order")
      try await browser.waitForLoad { try await browser.press("Enter") }
      try await browser.untilLive()
      let names = try await browser.tab(to: "td.run a")
      #expect(names.first == "a Skip to the contents")
      // The actions of a filtered list are closed until their summary is pressed.
      #expect(
        names.suffix(5)
          == ["select flow", "input text", "button Filter", "summary Cancel 1 run…", "a order/7"])
      try await expectVisibleFocus()
      // A change of the list keeps the focus on the same run.
      try await journal.store.start(Packing(), named: "order/8")
      try await browser.until("document.querySelectorAll('td.run').length === 2")
      #expect(try await browser.focus == "a order/7")
      try await expectVisibleFocus()
      try await browser.waitForLoad { try await browser.press("Enter") }
      try await browser.untilLive()
      #expect(try await browser.value("document.querySelector('h1').innerText") == "Runs / order/7")
      try await browser.tab(to: "#cancel summary")
      try await expectVisibleFocus()
      try await browser.press("Enter")
      try await browser.until(isShown("#reason"))
      #expect(try await browser.tab(to: "#reason") == ["input reason"])
      try await expectVisibleFocus()
      try await browser.type("by keys")
      try await browser.tab(to: "#cancel button")
      try await browser.press("Enter")
      try await browser.until(showsState(.cancelled))
      #expect(try await journal.store.run("order/7")?.summary.reason == "by keys")
      // The focus is at the message, and Tab continues with the actions.
      try await browser.until("document.activeElement.id === 'notice'")
      try await expectVisibleFocus()
      #expect(try await browser.tab(to: "summary").count == 1)
      #expect(try await browser.tab(to: "#forget summary").count == 1)
    }
  }

  @Test func `A8: every text is readable in light and dark mode`() async throws {
    let journal = try await journal()
    try await journal.store.cancel("ready", because: "sold out")
    try journal.execute("UPDATE run SET state = 'stuck', reason = 'no flow' WHERE id = 'order/7'")
    try await journal.store.start(Packing(), named: "packing")
    try await journal.startParked("parked")
    try await open("/", of: journal, expecting: "/run?id=none") { browser in
      var colors: Set<String> = []
      for isDark in [false, true] {
        try await browser.emulate(darkMode: isDark)
        for path in ["/", "/run?id=failed", "/run?id=parked", "/run?id=none", "/?state=result"] {
          try await browser.load(path, withScript: path != "/run?id=none")
          try await browser.evaluate(
            "for (const part of document.querySelectorAll('details')) part.open = true")
          let contrasts: [[Any]] = try await browser.value(BrowserScripts.contrasts)
          let weak = contrasts.filter { ($0[1] as? Double ?? 0) < 4.5 }
          #expect(contrasts.count > 3 && weak.isEmpty, "\(path): \(weak)")
        }
        colors.insert(
          try await browser.value(
            "((style) => style.color + style.backgroundColor)(getComputedStyle(document.body))"))
      }
      #expect(colors.count == 2)
    }
  }

  @Test func `A8: nothing is wider than a narrow screen`() async throws {
    let journal = try await journal()
    let long = String(repeating: "wide", count: 60)
    try journal.execute(
      """
      INSERT INTO run (id, flow, sequence, initial, state, reason, began, updated)
        VALUES ('\(long)', '\(long)', '"\(long)"', '{}', 'stuck', '\(long)', 0, 0)
      """)
    try journal.execute(
      """
      INSERT INTO step VALUES ('\(long)', 0, '', '\(long)', '[]', 'result', '"\(long)"',
        '{"\(long)":1}', 1, 1, 0, 5), ('\(long)', 1, '', 'a', '[]', 'result', '"short"',
        '{"\(long)":2}', 1, 1, 5, 9)
      """)
    try await open("/", of: journal) { browser in
      for width in [360, 1_000] {
        try await browser.emulate(width: width)
        for path in ["/", "/run?id=failed", "/run?id=order%2F7", "/run?id=\(long)"] {
          try await browser.load(path)
          try await browser.evaluate(
            "for (const part of document.querySelectorAll('details')) part.open = true")
          let widths: [Int] = try await browser.value(
            "((root) => [root.scrollWidth, root.clientWidth])(document.documentElement)")
          #expect(widths[0] <= width && widths[0] <= widths[1], "\(path): \(widths)")
          // A table that does not fit scrolls by itself, but needs not on a narrow screen.
          let scrolling: Int = try await browser.value(
            """
            [...document.querySelectorAll(".scroll")]
              .filter((part) => part.scrollWidth > part.clientWidth).length
            """)
          if width == 360 { #expect(scrolling == 0, "\(path)") }
        }
      }
    }
  }

  @Test func `A8: every control and image has a name, and the page has landmarks`() async throws {
    let journal = try await journal()
    try await open("/", of: journal) { browser in
      for path in ["/", "/run?id=failed", "/run?id=order%2F7"] {
        try await browser.load(path)
        try await browser.evaluate(
          "for (const part of document.querySelectorAll('details')) part.open = true")
        #expect(try await browser.value(BrowserScripts.structure) == [String](), "\(path)")
        let tree = try await browser.send("Accessibility.getFullAXTree")
        let nodes = try #require(tree["nodes"] as? [[String: Any]])
        func text(_ field: String, of node: [String: Any]) -> String {
          (node[field] as? [String: Any])?["value"] as? String ?? ""
        }
        var roles: [String: Int] = [:]
        for node in nodes where node["ignored"] as? Bool != true {
          let role = text("role", of: node)
          roles[role, default: 0] += 1
          let isFocusable = (node["properties"] as? [[String: Any]] ?? []).contains { property in
            property["name"] as? String == "focusable"
              && (property["value"] as? [String: Any])?["value"] as? Bool == true
          }
          // The contents and the message have the focus only by the script.
          if isFocusable || role == "image", !["main", "status", "RootWebArea"].contains(role) {
            #expect(!text("name", of: node).isEmpty, "\(path): \(role)")
          }
        }
        #expect(roles["main"] == 1 && roles["banner"] == 1, "\(path): \(roles)")
        #expect(roles["link", default: 0] > 0 && roles["table"] == 1, "\(path): \(roles)")
        if path == "/" { #expect(roles["search"] == 1 && roles["navigation"] == 1, "\(roles)") }
      }
    }
  }

  @Test func `A8: without JavaScript, the list, a run and an action work`() async throws {
    let journal = try await journal()
    try await open("/", of: journal, expecting: "409 (Conflict)") { browser in
      try await browser.send("Emulation.setScriptExecutionDisabled", ["value": true])
      try await browser.load("/", withScript: false)
      #expect(try await browser.text.contains("not live: reload to see changes"))
      #expect(try await Set(browser.names) == ["order/7", "failed", "ready"])
      try await browser.waitForLoad { try await browser.click("a[href='/run?id=order%2F7']") }
      try await browser.click("#cancel summary")
      try await browser.click("#reason")
      try await browser.type("plain")
      try await browser.waitForLoad { try await browser.click("#cancel button") }
      #expect(try await browser.value(showsState(.cancelled)) == true)
      #expect(try await journal.store.run("order/7")?.summary.reason == "plain")
      // A refused action has a page that says why.
      try await browser.load("/run?id=ready", withScript: false)
      try await journal.store.cancel("ready")
      try await browser.click("#cancel summary")
      try await browser.waitForLoad { try await browser.click("#cancel button") }
      #expect(try await browser.value(noticeHas("the run has already ended (cancelled)")) == true)
    }
  }
}
