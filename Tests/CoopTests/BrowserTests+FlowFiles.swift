import Foundation
import SQLiteSupport
import TestSupport
import Testing

/// The page of a run of a flow file in a browser.
extension BrowserTests {
  @Test func `A8: every text of the pictures is readable in light and dark mode`() async throws {
    // Each state that a step has a color for.
    let flow = try FlowFixture(
      """
      "MMMMMMMM": {"run": "sleep 0.05"}, "bad": {"run": "sleep 0.05; false", "retries": 1},
      "skipped": {"run": "true", "needs": ["bad"]}, "met": {"run": "true", "only-if": "sleep 0.05; false"},
      "stopped": {"run": "touch began; while ! test -e go; do sleep 0.05; done", "after": ["bad"]},
      "last": {"run": "true", "needs": ["stopped"]}
      """)
    let folder = flow.folder.path
    let ran = try await flow.program(["run", "f.json", "--keep-going"]).run { process in
      try await eventually { FileManager.default.fileExists(atPath: folder + "/began") }
      _ = try await flow.serving { site in
        // The browser asks for an icon of the image.
        try await Browser.open("/run?id=f%231", of: site, expecting: ["favicon.ico"]) { browser in
          func expectReadable(_ names: [String]) async throws {
            for isDark in [false, true] {
              try await browser.emulate(darkMode: isDark)
              let contrasts: [[Any]] = try await browser.value(BrowserScripts.contrasts)
              for text in contrasts { #expect((text[1] as? Double) ?? 0 >= 4.5, "\(text)") }
              let texts = contrasts.compactMap { $0[0] as? String }
              for name in names { #expect(texts.contains { $0.hasPrefix(name) }, "\(texts)") }
            }
          }
          let timeline = "/run/timeline.svg?id=f%231"
          try await browser.until("document.querySelector('.graph .step-running')")
          try await expectReadable(["✗ failed", "▸ running", "… waiting", "↷ skipped"])
          try await browser.load(timeline, withScript: false)
          try await expectReadable(["… f#1", "✕ error"])
          kill(process, SIGINT)
          try await browser.load("/run?id=f%231")
          try await browser.until("document.querySelector('.graph .step-cancelled')")
          try await expectReadable(["⊘ cancelled", "✓ succeeded"])
          // The bars have room for their names, except one, which cuts its name.
          try SQLiteConnection.open(
            flow.journal, for: .writing, SQLiteConfiguration(access: .existing)
          ).execute(
            """
            UPDATE flow_step SET ended = began + iif(step = 'MMMMMMMM', 2400, 60000)
            WHERE began IS NOT NULL
            """)
          try await browser.load(timeline, withScript: false)
          try await expectReadable(["f#1", "MM", "✕ bad #2", "⊘ met", "⊘ stopped"])
        }
      }
    }
    #expect(ran.status == 130, "\(ran.error)")
  }

  @Test func `A10: a log is followed, and what the reader has closed stays closed`() async throws {
    let flow = try FlowFixture(
      """
      "a": {"run": "echo begun; touch began; while ! test -e go; do sleep 0.05; done; echo ended"},
      "b": {"run": "for i in $(seq 200); do echo line $i; done; exit 1"},
      "c": {"run": "true", "needs": ["a"], "after": ["b"]}
      """)
    let folder = flow.folder.path
    let ran = try await flow.program(["run", "f.json", "--keep-going"]).run { _ in
      try await eventually { FileManager.default.fileExists(atPath: folder + "/began") }
      _ = try await flow.serving { site in
        try await Browser.open("/run?id=f%231", of: site) { browser in
          func hasState(_ step: String, _ state: String) -> String {
            "document.querySelector('#step-\(step) td:nth-child(2)')?.innerText.includes('\(state)')"
          }
          try await browser.until(hasState("b", "failed"))
          try await browser.until(hasState("a", "running"))
          try await browser.until("document.getElementById('end-a')?.textContent.includes('begun')")
          #expect(try await browser.value(isShown("#end-a")) == true)
          #expect(try await browser.value(isShown("#end-b")) == true)
          #expect(try await browser.value(BrowserScripts.structure) == [String]())
          // The reader closes a log. The other one grows, at first below its end.
          try await browser.click("#log-b summary")
          let path = flow.folder.url.appendingPathComponent(flow.log("a"))
          let log = try FileHandle(forWritingTo: path)
          let long = String(repeating: "word ", count: 300)
          for number in 1...15 {
            try log.seekToEnd()
            try log.write(contentsOf: Data("\(long)\(number)\n".utf8))
          }
          try await browser.until("document.getElementById('end-a').textContent.includes(' 15')")
          try await browser.until(
            """
            (() => { const log = document.getElementById('end-a');
              return log.scrollHeight > log.clientHeight
                && log.scrollTop + log.clientHeight >= log.scrollHeight - 4; })()
            """)
          #expect(try await browser.value(isShown("#end-b")) == false)
          // The reader scrolls back.
          try await browser.evaluate("document.getElementById('end-a').scrollTop = 10")
          try log.seekToEnd()
          try log.write(contentsOf: Data("last\n".utf8))
          try await browser.until("document.getElementById('end-a').textContent.includes('last')")
          #expect(try await browser.value("document.getElementById('end-a').scrollTop") == 10)
          try flow.folder.write("", to: "go")
          try await browser.until(hasState("a", "succeeded"))
          try await browser.until(hasState("c", "succeeded"))
          // The reader reads it.
          #expect(try await browser.value(isShown("#end-a")) == true)
          #expect(try await browser.value(isShown("#end-b")) == false)
          try await browser.emulate(width: 360)
          #expect(
            try await browser.value("document.documentElement.scrollWidth <= innerWidth") == true)
        }
      }
    }
    #expect(ran.status == 1, "\(ran.error)")
  }
}
