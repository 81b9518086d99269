import DurableOperations
import Foundation
import TestSupport
import Testing

extension BrowserTests {
  @Test func `A6: hostile text is shown, and never runs`() async throws {
    let journal = try JournalFixture()
    try await journal.store.start(Packing(), named: "0")
    let script = "<script>window.hit=1</script>"
    let image = "\"><img src=x onerror=window.hit=1>"
    let hostile = [
      (script, script), (image, image), ("' onmouseover='window.hit=1", "' onmouseover="),
      ("javascript:window.hit=1", "javascript:window.hit=1"), ("</pre></main>a", "</pre></main>a"),
      ("\u{200F}\u{202E}gpj.exe", "U+200FU+202Egpj.exe"), ("a'||char(0)||'b", "aU+0000b"),
      ("{{7*7}}", "{{7*7}}"), ("<!--", "<!--"),
    ]
    for (index, (text, _)) in hostile.enumerated() {
      let quoted =
        text.contains("||") ? "'\(text)'" : "'\(text.replacingOccurrences(of: "'", with: "''"))'"
      let id = text.contains("||") ? "'zero'" : quoted
      let (state, event, outcome, end) =
        index % 2 == 0
        ? ("'parked'", quoted, "NULL", "NULL")
        : ("'error'", "NULL", "json_object('type', \(quoted), 'description', \(quoted))", "5")
      try journal.execute(
        """
        INSERT INTO run (id, flow, sequence, initial, state, event, reason, outcome, began, updated,
            ended)
          VALUES (\(id), \(quoted), json_quote(\(quoted)), '{}', \(state), \(event), \(quoted),
            \(outcome), \(index), 0, \(end))
        """)
      try journal.execute(
        """
        INSERT INTO step VALUES (\(id), 0, '', \(quoted), '[]', 'error', \(quoted),
          json_quote(\(quoted)), 1, 1, 0, 5)
        """)
    }
    try await open("/", of: journal) { browser in
      let list = try await browser.text
      for (_, shown) in hostile { #expect(list.contains(shown), "\(shown)") }
      let paths: [String] = try await browser.value(
        "[...document.querySelectorAll('td.run a')].map((link) => link.getAttribute('href'))")
      #expect(paths.count == hostile.count + 1)
      for path in paths where path != "/run?id=0" {
        try await browser.load(path)
        try await browser.evaluate(
          "for (const part of document.querySelectorAll('details')) part.open = true")
        try await browser.until("document.querySelector('.timeline img').naturalWidth > 0")
        let shown = try await browser.text
        #expect(hostile.contains { shown.contains($0.1) }, "\(shown)")
        #expect(try await browser.value("document.images.length") == 1)
        #expect(try await browser.value("'hit' in window") == false)
        #expect(try await browser.value("document.querySelectorAll('main').length") == 1)
      }
      try await browser.load("/run?id=0")
      try await browser.click("#send summary")
      try await browser.fill("#event", image)
      try await browser.click("#send button")
      try await browser.until(noticeHas(image))
      try await browser.load("/?text=%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E")
      #expect(try await browser.names == [script])
      #expect(try await browser.value("'hit' in window") == false)
    }
  }
}
