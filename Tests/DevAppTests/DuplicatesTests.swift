import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DuplicatesTests {
  @Test func `groups contain exactly the files with equal contents`() async throws {
    let folder = try TemporaryFolder()
    let long = String(repeating: "0123456789abcdef", count: 40_000)
    try folder.write("same", to: "a")
    try folder.write("same", to: "below/b")
    try folder.write("sane", to: "c")
    try folder.write("same ", to: "d")
    try folder.write(long, to: "long 1")
    try folder.write(long, to: "below/deeper/long 2")
    try folder.write(long.dropLast() + "x", to: "differs at its end")
    try folder.write("x" + long.dropFirst(), to: "differs at its beginning")
    try folder.write("alone", to: "e")
    let printed = try await Program.devApp("duplicates", "--json", folder.path).run()
    #expect(printed.status == 0)
    #expect(printed.error == "")
    let report = try Report(printed)
    #expect(report.names(in: folder) == [["a", "below/b"], ["long 1", "below/deeper/long 2"]])
    #expect(report.groups.map(\.size) == [640_000, 4])
    #expect(report.totals.files == 9)
    #expect(report.totals.groups == 2)
    #expect(report.totals.surplusFiles == 2)
    #expect(report.totals.surplusBytes == 640_004)
    #expect(report.unreadable.isEmpty)
    #expect(report.changed.isEmpty)
  }

  @Test func `hundreds of files of one size are grouped by their contents`() async throws {
    let folder = try TemporaryFolder()
    for index in 0..<600 {
      // 200 different contents of three files each, all of one size.
      let number = String(1_000 + index % 200)
      try folder.write(String(repeating: number, count: 2_500), to: "\(index)")
    }
    let report = try await Report(Program.devApp("duplicates", "--json", folder.path).run())
    let expected = (0..<200).map { Set(["\($0)", "\($0 + 200)", "\($0 + 400)"]) }
    #expect(report.names(in: folder) == Set(expected))
  }

  @Test func `hard links count as one file, and symbolic links are ignored`() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("contents", to: "a")
    let manager = FileManager.default
    try manager.linkItem(at: file, to: folder.url.appendingPathComponent("hard link"))
    try manager.createSymbolicLink(
      at: folder.url.appendingPathComponent("symbolic link"), withDestinationURL: file)
    try manager.createSymbolicLink(
      at: folder.url.appendingPathComponent("folder link"), withDestinationURL: folder.url)
    let alone = try await Report(Program.devApp("duplicates", "--json", folder.path).run())
    #expect(alone.groups.isEmpty)
    try folder.write("contents", to: "b")
    let both = try await Report(Program.devApp("duplicates", "--json", folder.path).run())
    #expect(both.groups.count == 1)
    #expect(both.groups[0].files.count == 2)
  }

  @Test func `a folder that is named twice or inside another one is searched once`() async throws {
    let folder = try TemporaryFolder()
    try folder.write("contents", to: "below/a")
    let printed = try await Program.devApp(
      "duplicates", "--json", folder.path, folder.path + "/below", folder.path,
      folder.path + "/below/a"
    ).run()
    #expect(try Report(printed).groups.isEmpty)
  }

  @Test func `a symbolic link in the arguments is followed`() async throws {
    let folder = try TemporaryFolder()
    try folder.write("contents", to: "below/a")
    try folder.write("contents", to: "below/b")
    let link = folder.url.appendingPathComponent("link")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: folder.url.appendingPathComponent("below"))
    #expect(
      try await Report(Program.devApp("duplicates", "--json", link.path).run()).groups.count == 1)
  }

  @Test func `empty files are a group only with --empty`() async throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b", "c"] { try folder.write("", to: name) }
    #expect(
      try await Report(Program.devApp("duplicates", "--json", folder.path).run()).groups.isEmpty)
    let report = try await Report(
      Program.devApp("duplicates", "--empty", "--json", folder.path).run())
    #expect(report.names(in: folder) == [["a", "b", "c"]])
  }

  @Test func `names with newlines, quotes and bytes that are not UTF-8 are printed correctly`()
    async throws
  {
    let folder = try TemporaryFolder()
    let names: [[UInt8]] = [
      Array("new\nline".utf8), Array("'single' \"double\" \\".utf8), Array("ü and 🎉".utf8),
      [0x66, 0xFF, 0x80], Array("$'a'".utf8), Array("-dash".utf8),
    ]
    for name in names {
      let path = Array(folder.path.utf8) + [UInt8(ascii: "/")] + name + [0]
      let file = unsafe path.withUnsafeBufferPointer { path in
        unsafe path.withMemoryRebound(to: CChar.self) { unsafe fopen($0.baseAddress, "w") }
      }
      guard let opened = unsafe file else { throw CocoaError(.fileWriteUnknown) }
      unsafe fputs("contents", opened)
      unsafe fclose(opened)
    }
    let report = try await Report(Program.devApp("duplicates", "--json", folder.path).run())
    let found = Set(
      try #require(report.groups.first).files.map { $0.bytes.dropFirst(folder.path.utf8.count + 1) }
    )
    #expect(found == Set(names.map { $0[...] }))
    let odd = try #require(report.groups[0].files.first { $0.base64 != nil })
    #expect(odd.path == folder.path + "/f\u{FFFD}\u{FFFD}")
    let text = try await Program.devApp("duplicates", folder.path).run().text
    let lines = Set(text.split(separator: "\n").dropFirst().map { $0.dropFirst(2) })
    let prefix = folder.path + "/"
    #expect(
      lines == [
        "$'\(prefix)new\\nline'", "\(prefix)'single' \"double\" \\", "\(prefix)ü and 🎉",
        "$'\(prefix)f\\xff\\x80'", "\(prefix)$'a'", "\(prefix)-dash",
      ])
  }

  @Test func `unreadable files are reported and do not end the run`() async throws {
    let folder = try TemporaryFolder()
    try folder.write("contents", to: "a")
    try folder.write("contents", to: "b")
    try folder.write("contents", to: "secret")
    try folder.write("contents", to: "closed/c")
    let manager = FileManager.default
    let secret = folder.path + "/secret"
    let closed = folder.path + "/closed"
    try manager.setAttributes([.posixPermissions: 0], ofItemAtPath: secret)
    try manager.setAttributes([.posixPermissions: 0], ofItemAtPath: closed)
    defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: closed) }
    try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    let copy = try TemporaryFolder()
    let search = Program.devApp("duplicates", "--json", folder.path)
    guard let program = try await search.withoutPrivileges(copiedTo: copy) else { return }
    let printed = try await program.run()
    #expect(printed.status == 0)
    let report = try Report(printed)
    #expect(report.groups.map(\.files.count) == [2])
    #expect(report.unreadable.map(\.file.path) == [closed, secret])
    #expect(report.unreadable.map(\.error) == ["Permission denied", "Permission denied"])
  }

  @Test func `the text output lists the groups and the totals`()
    async throws
  {
    let folder = try TemporaryFolder()
    try folder.write("contents", to: "a")
    try folder.write("contents", to: "b")
    let printed = try await Program.devApp("duplicates", ".", in: folder.url).run()
    #expect(printed.text == "2 files of 8 bytes:\n  ./a\n  ./b\n")
    #expect(printed.error.hasPrefix("1 group, 1 surplus file of 8 B in 2 files of 16 B, "))
    #expect(printed.error.split(separator: "\n").count == 1)
    let none = try await Program.devApp("duplicates", "a", in: folder.url).run()
    #expect(none.text == "")
    #expect(none.error.hasPrefix("No duplicates in 1 file of 8 B, "))
  }
}
