import FlowFiles
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct GlobPatternTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let names = [
    "a", "b", "c", "ab", "ba", "abc", ".a", ".ab", "a.txt", "b.txt", "a-b", "{a}", "[a]", "*",
    "a*b",
    "A", "\u{e9}", "e\u{301}", "a\u{e9}", "\u{1F680}", "1", "_",
  ]
  private static let fragments = [
    "*", "*", "*", "**", "?", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[c-a]", "[]a]", "[!]a]",
    "[a-]",
    "[\\]a]", "[\u{e9}x]", "[[:alpha:]]", "[[:punct:]_]", "[![:lower:]]", "[.a]", "{a,b}", "{,a}",
    "{a,{b,c}}", "{*,.*}", "{[ab],?}", "{", "}", ",", "a", "b", "c", ".", ".", "A",
    "\u{e9}", "e\u{301}", "/", "/", "/", "/**/", "/*/", "**/", "\\*", "\\[", "\\{", "\\a", ".txt",
    "]", "-", "1",
  ]

  @Test(.enabled(if: Program.installed("bash") != nil))
  func `L15: patterns match the files that bash finds`() async throws {
    let seed =
      Self.environment["COMPOSITE_GLOB_SEED"].flatMap { UInt64($0) }
      ?? .random(in: 0...9_999)
    print("patterns: COMPOSITE_GLOB_SEED=\(seed)")
    var random = SplitMix(state: seed)
    let count = Self.environment["COMPOSITE_TEST_DEPTH"] == "full" ? 50 : 5
    var found = 0
    for _ in 0..<count {
      let folder = try TemporaryFolder()
      try Self.fill(folder.path, depth: 0, &random)
      var patterns: [String] = []
      var templates: [FlowTemplate] = []
      while patterns.count < 200 {
        var text = ""
        for _ in 0...random.next() % 5 {
          text += Self.fragments.randomElement(using: &random) ?? ""
        }
        // Bash makes sequences of `{a..c}`, and `..` and a slash lead out of the folder. It does not
        // enter folders for `**` before two slashes, and keeps a name `.` at the end.
        if text.contains("..") || text.hasPrefix("/") || text.contains("//")
          || text.replacing("{,a}", with: "").hasSuffix("/.") || text.contains(".{,a}")
          || text.contains("{,a}/")
        {
          continue
        }
        // A path is the same with a slash at its end.
        let words = text.replacing("\\*", with: "").replacing("{,a}", with: "")
        if words.hasSuffix("/"), !words.contains("*"), !words.contains("?") { continue }
        guard let template = try Self.template(text) else { continue }
        patterns.append(text)
        templates.append(template)
      }
      let expected = try await Self.filesByBash(patterns, in: folder)
      for (index, template) in templates.enumerated() {
        let files = Set(
          try GlobPattern.files(template, [:], in: folder.path)
            .filter { Self.isFound($0, patterns[index], in: folder.path) }.map { Array($0.utf8) })
        found += files.count
        let wrong = files.symmetricDifference(expected[index])
          .map { String(decoding: $0, as: UTF8.self) }
          // Bash enters links for `a/**/b`, and not for `**/b`.
          .filter { !Self.mayBeRecursive(patterns[index]) || !Self.hasLink($0, in: folder.path) }
        #expect(wrong.isEmpty, "\(patterns[index]) of seed \(seed)")
      }
    }
    #expect(found > count)
  }

  @Test func `L15: two asterisks do not follow links`() throws {
    let folder = try TemporaryFolder()
    for name in ["a/b/f", "a/f", ".h/f"] { try folder.write("", to: name) }
    _ = try folder.link("a/link", to: "..")
    func files(_ pattern: String) throws -> [String] {
      let template = try Self.template(pattern)
      return try GlobPattern.files(try #require(template), [:], in: folder.path)
    }
    #expect(try files("**/f") == ["a/b/f", "a/f"])
    #expect(try files("a/**/f") == ["a/b/f", "a/f"])
    #expect(try files("{a/link/a,.[!.]}/{f,f}") == [".h/f", "a/link/a/f"])
    #expect(try files("**/") == ["a/", "a/b/"])
    #expect(try files("a/*") == ["a/b", "a/f", "a/link"])
    #expect(try files("a/*/") == ["a/b/", "a/link/"])
    #expect(try files("/nowhere/**").isEmpty)
    try folder.write("", to: ".flow/f")
    #expect(try files(".*") == [".h"])
  }

  /// The pattern, if the reader accepts it.
  private static func template(_ text: String) throws -> FlowTemplate? {
    let each = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    let file = #"{"flow": "f", "steps": {"a": {"run": "x", "each": \#(each)}}}"#
    do throws(FlowFileError) {
      let read = try FlowFile(parsing: Array(file.utf8), path: "f.json")
      guard case .glob(let template)? = read.steps[0].each else { return nil }
      return template
    } catch {
      let message = error.description
      #expect(["brace", "'['"].contains { message.contains($0) }, "\(text): \(message)")
      return nil
    }
  }

  private static func fill(_ path: String, depth: Int, _ random: inout SplitMix) throws {
    for _ in 0..<(3 + random.next() % 6) {
      let item = "\(path)/\(names.randomElement(using: &random) ?? "a")"
      switch random.next() % 8 {
      case 0...2 where depth < 3:
        try? FileManager.default.createDirectory(
          atPath: item, withIntermediateDirectories: true)
        if isFolder(item) { try fill(item, depth: depth + 1, &random) }
      case 3: _ = unsafe symlink(names.randomElement(using: &random) ?? "a", item)
      default:
        if !isFolder(item) { _ = FileManager.default.createFile(atPath: item, contents: nil) }
      }
    }
  }

  /// The files and folders that bash finds for each pattern. Bash also keeps words without special
  /// characters.
  private static func filesByBash(
    _ patterns: [String], in folder: TemporaryFolder
  ) async throws -> [Set<[UInt8]>] {
    let script = patterns.map { "printf '%s\\0' \($0) ''; printf '\\1\\0'" }
    var bash = try #require(
      Program.installed(
        "bash", "-O", "globstar", "-O", "nullglob", "-c", script.joined(separator: "\n")))
    bash.folder = folder.url
    bash.environment = ["LC_ALL": "C.UTF-8"]
    let result = try await bash.run()
    #expect(result.error.isEmpty)
    var files: [Set<[UInt8]>] = [[]]
    for word in result.output.split(separator: 0) {
      if word.elementsEqual([1]) {
        files.append([])
        continue
      }
      let text = String(decoding: word, as: UTF8.self)
      // The folder itself, as `./`.
      if text != "./", isFound(text, patterns[files.count - 1], in: folder.path) {
        files[files.count - 1].insert(normalized(word))
      }
    }
    return files
  }

  /// Whether the result of a pattern is compared: a path that exists. Bash finds for `a/**` also `a` or
  /// `a/`, so the folders of such patterns are not compared, unless they end with a slash.
  private static func isFound(_ path: String, _ pattern: String, in folder: String) -> Bool {
    var status = stat()
    guard unsafe lstat("\(folder)/\(path)", &status) == 0 else { return false }
    if !mayBeRecursive(pattern) { return true }
    return isFolder("\(folder)/\(path)") == (path.hasSuffix("/") && pattern.hasSuffix("/"))
  }

  /// Whether a name in the pattern can be `**`, also one such as `{*,a}*`.
  private static func mayBeRecursive(_ pattern: String) -> Bool {
    pattern.split(separator: "/").contains { $0.count { $0 == "*" } > 1 }
  }

  /// Whether the path has a link to a folder.
  private static func hasLink(_ path: String, in folder: String) -> Bool {
    var status = stat()
    var item = folder
    for name in path.split(separator: "/") {
      item += "/\(name)"
      guard unsafe lstat(item, &status) == 0 else { return false }
      if status.st_mode & S_IFMT == S_IFLNK, isFolder(item) { return true }
    }
    return false
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func normalized(_ path: Data) -> [UInt8] {
    let names = path.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
    return Array(names.joined(separator: "/".utf8))
      + (path.last == UInt8(ascii: "/") ? "/".utf8 : "".utf8)
  }
}
