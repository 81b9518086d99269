import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FileReplacementTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `F2: files are overwritten only if requested, and folders never`()
    async throws
  {
    try bytes(1).write(to: folder["a"])
    try bytes(2).write(to: folder["b"])
    try FileManager.default.createDirectory(at: folder["c"], withIntermediateDirectories: true)
    for operation in [
      AnyOperation(FileCopyOperation(from: folder["a"], to: folder["b"])),
      AnyOperation(FileMoveOperation(from: folder["a"], to: folder["b"])),
      AnyOperation(FileMoveOperation(from: folder["a"], to: folder["a"])),
      AnyOperation(FileCopyOperation(from: folder["a"], to: folder["c"], replacing: true)),
      AnyOperation(FileMoveOperation(from: folder["a"], to: folder["c"], replacing: true)),
      AnyOperation(FileCopyOperation(from: folder["c"], to: folder["a"], replacing: true)),
      AnyOperation(FileMoveOperation(from: folder["c"], to: folder["a"], replacing: true)),
    ] {
      #expect(fileError(await operation.run())?.reason == .system(code: EEXIST))
    }
    #expect(try Data(contentsOf: folder["b"]).count == 2)
    let copy = FileCopyOperation(from: folder["a"], to: folder["b"], replacing: true)
    #expect(await copy.run().result != nil)
    #expect(try Data(contentsOf: folder["b"]).count == 1)
    #expect(try folder.names() == ["a", "b", "c"])
  }

  @Test func `copying or moving a folder into itself is an error`() async throws {
    try FileManager.default.createDirectory(at: folder["c/d"], withIntermediateDirectories: true)
    let link = try folder.link("link", to: "c/d")
    for operation in [
      AnyOperation(FileCopyOperation(from: folder["c"], to: folder["c/e"])),
      AnyOperation(FileCopyOperation(from: folder["c"], to: link.appendingPathComponent("e"))),
      AnyOperation(FileMoveOperation(from: folder["c"], to: folder["c/e"])),
      AnyOperation(FileMoveOperation(from: folder["c"], to: link.appendingPathComponent("e"))),
    ] {
      let error = fileError(await operation.run())
      #expect(error?.reason == .insideItself && error?.path == folder["c"].path)
    }
    #expect(try folder.names() == ["c", "link"])
  }

  @Test func `F2: a file that is created at the destination during a copy stays`() async throws {
    try bytes(10).write(to: folder["a"])
    try FileManager.default.createDirectory(at: folder["c"], withIntermediateDirectories: true)
    try bytes(10).write(to: folder["c/d"])
    let other = folder["b"]
    for name in ["a", "c"] {
      let copy = FileCopyOperation(from: folder[name], to: other)
        .atProgress { _ in try? bytes(3).write(to: other) }
      #expect(fileError(await copy.run())?.reason == .system(code: EEXIST))
      #expect(try Data(contentsOf: other).count == 3)
      try FileManager.default.removeItem(at: other)
    }
    #expect(try folder.names() == ["a", "c"])
  }

  @Test func `exactly one of many concurrent copies to one destination succeeds`() async throws {
    for index in 0..<16 { try bytes(index + 1).write(to: folder["\(index)"]) }
    let copies = (0..<16).map {
      FileCopyOperation(from: folder["\($0)"], to: folder["copy"]).start()
    }
    var arrived: [Int] = []
    for (index, copy) in copies.enumerated() {
      let outcome = await copy.outcome
      if outcome.result != nil {
        arrived.append(index + 1)
      } else {
        #expect(fileError(outcome)?.reason == .system(code: EEXIST))
      }
    }
    #expect(arrived == [try Data(contentsOf: folder["copy"]).count])
    #expect(try folder.names().count == 17)
  }

  @Test func `a named pipe is not replaced`() async throws {
    try bytes(1).write(to: folder["a"])
    #expect(unsafe mkfifo(folder["pipe"].path, 0o600) == 0)
    for operation in [
      AnyOperation(FileCopyOperation(from: folder["a"], to: folder["pipe"], replacing: true)),
      AnyOperation(FileMoveOperation(from: folder["a"], to: folder["pipe"], replacing: true)),
    ] {
      #expect(fileError(await operation.run())?.reason == .system(code: EEXIST))
    }
    #expect(status(of: folder["pipe"]).st_mode & S_IFMT == S_IFIFO)
    #expect(try folder.names() == ["a", "pipe"])
  }

  @Test func `a move onto another hard link of the same file removes the source`() async throws {
    try bytes(7).write(to: folder["a"])
    #expect(unsafe link(folder["a"].path, folder["b"].path) == 0)
    let refused = FileMoveOperation(from: folder["a"], to: folder["b"])
    #expect(fileError(await refused.run())?.reason == .system(code: EEXIST))
    let onto = FileMoveOperation(from: folder["a"], to: folder["a"], replacing: true)
    #expect(await onto.run().result != nil)
    #expect(try folder.names() == ["a", "b"])
    let move = FileMoveOperation(from: folder["a"], to: folder["b"], replacing: true)
    #expect(await move.run().result != nil)
    #expect(try folder.names() == ["b"])
    let onlyName = FileMoveOperation(from: folder["b"], to: folder["b"], replacing: true)
    #expect(await onlyName.run().result != nil)
    #expect(try Data(contentsOf: folder["b"]) == bytes(7))
  }

  @Test func `F1: a write or copy that is cancelled after its last byte changes nothing`()
    async throws
  {
    try bytes(5).write(to: folder["a"])
    #expect(await FileWriteOperation(bytes(10), to: folder["a"]).outcomeOfCancelling().isCancelled)
    #expect(try Data(contentsOf: folder["a"]) == bytes(5))
    let copy = FileCopyOperation(from: folder["a"], to: folder["b"])
    #expect(await copy.outcomeOfCancelling().isCancelled)
    try FileManager.default.createDirectory(at: folder["c"], withIntermediateDirectories: true)
    try bytes(10).write(to: folder["c/d"])
    let tree = FileCopyOperation(from: folder["c"], to: folder["e"])
    #expect(await tree.outcomeOfCancelling().isCancelled)
    #expect(try folder.names() == ["a", "c"])
  }

  // MARK: Through links

  @Test func `a write follows links, including links to missing files`() async throws {
    try FileManager.default.createDirectory(
      at: folder["there/deep"], withIntermediateDirectories: true)
    try bytes(1).write(to: folder["old"])
    let links = [
      ("relative", "old", "old"), ("dangling", "new", "new"),
      ("absolute", folder["there/absolute"].path, "there/absolute"),
      // Relative to the target of the link, not to the folder that contains the link.
      ("behind", "inner/../behind", "there/behind"),
    ]
    _ = try folder.link("inner", to: "there/deep")
    for (index, (name, target, file)) in links.enumerated() {
      let link = try folder.link("link-\(name)", to: target)
      _ = try folder.link("again-\(name)", to: link.lastPathComponent)
      let write = FileWriteOperation(bytes(index + 2), to: folder["again-\(name)"])
      #expect(await write.run().result != nil, "\(name)")
      #expect(try Data(contentsOf: folder[file]).count == index + 2)
      #expect(status(of: link).st_mode & S_IFMT == S_IFLNK)
    }
    let behind = folder.url.appendingPathComponent("inner/../direct")
    #expect(await FileWriteOperation(bytes(20), to: behind).run().result != nil)
    #expect(try Data(contentsOf: folder["there/direct"]).count == 20)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder["there"].path).count == 4)
  }

  @Test func `a cycle of links is an error`() async throws {
    _ = try folder.link("a", to: "b")
    _ = try folder.link("b", to: "a")
    let error = fileError(await FileWriteOperation(bytes(1), to: folder["a"]).run())
    #expect(error?.reason == .system(code: ELOOP) && error?.path == folder["a"].path)
  }
}
