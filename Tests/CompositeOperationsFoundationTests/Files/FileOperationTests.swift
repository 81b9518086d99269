import CompositeOperations
import CompositeOperationsFoundation
import CompositeOperationsTestKit
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FileOperationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  // MARK: Reading and writing

  @Test(arguments: [0, 1, 1 << 20, (1 << 20) + 1, 3_500_000])
  func `a written file is read back unchanged`(
    count: Int
  ) async throws {
    let data = bytes(count)
    #expect(await FileWriteOperation(data, to: folder["a"], synchronized: true).run().result != nil)
    #expect(await FileReadOperation(folder["a"]).run().result == data)
    #expect(try folder.names() == ["a"])
  }

  @Test func `a file name can begin with a combining character`() async throws {
    let folder = try TemporaryFolder()
    let file = folder["\u{301}a"]
    #expect(await FileWriteOperation(bytes(3), to: file, synchronized: true).run().result != nil)
    #expect(await FileReadOperation(file).run().result == bytes(3))
    #expect(try folder.names() == ["\u{301}a"])
  }

  @Test func `reading reports progress and stops at a limit`() async throws {
    try bytes(2_500_000).write(to: folder["a"])
    let recorder = RecordingObserver()
    let read = FileReadOperation(folder["a"]).named("read")
    _ = await read.run(in: OperationEnvironment(observers: [recorder]))
    let steps = recorder.events(of: "read").compactMap { event -> [Int]? in
      guard case .progressed(let completed, 2_500_000, "bytes") = event.kind else { return nil }
      return [completed]
    }
    #expect(steps.joined().elementsEqual([1 << 20, 2 << 20, 2_500_000]))
    #expect(
      await FileReadOperation(folder["a"], atMost: 2_500_000).run().result?.count == 2_500_000)
    let error = fileError(await FileReadOperation(folder["a"], atMost: 2_499_999).run())
    #expect(error?.reason == .tooLarge(limit: 2_499_999))
    // The limit also applies to an endless file.
    let endless = FileReadOperation(URL(fileURLWithPath: "/dev/zero"), atMost: 3_000_000)
    #expect(fileError(await endless.run())?.reason == .tooLarge(limit: 3_000_000))
  }

  #if os(Linux)
    @Test func `a file of the proc file system is read with one progress report`() async throws {
      let recorder = RecordingObserver()
      let read = FileReadOperation(URL(fileURLWithPath: "/proc/self/status")).named("read")
      let data = await read.run(in: OperationEnvironment(observers: [recorder])).result
      let steps = recorder.events(of: "read").compactMap { event -> Int? in
        guard case .progressed(let completed, nil, "bytes") = event.kind else { return nil }
        return completed
      }
      #expect(steps == [data?.count])
      #expect((data?.count ?? 0) > 100)
    }
  #endif

  @Test func `reading an endless file ends when it is cancelled`() async {
    let run = FileReadOperation(URL(fileURLWithPath: "/dev/zero"), atMost: .max)
      .start(keepingEvents: 100)
    for await event in run.events {
      if case .progressed = event.kind { run.cancel() }
    }
    #expect(await run.outcome.isCancelled)
  }

  @Test func `F3: errors name the file and the remedy`() async throws {
    let missing = fileError(await FileReadOperation(folder["none"]).run())
    #expect(missing?.path == folder["none"].path && missing?.action == .read)
    #expect(
      missing?.description.contains("none: No such file or directory. Check the path.")
        == true)
    let directory = fileError(await FileReadOperation(folder.url).run())
    #expect(directory?.reason == .system(code: EISDIR))
    let noFolder = fileError(await FileWriteOperation(bytes(1), to: folder["no/a"]).run())
    #expect(noFolder?.description.contains("Create the folder first") == true)
    let full = FileWriteOperation(bytes(10), to: URL(fileURLWithPath: "/dev/full"))
    let noRoom = fileError(await full.run())
    #expect(noRoom?.reason == .system(code: ENOSPC) && noRoom?.path == "/dev/full")
    #expect(noRoom?.description.contains("Free disk space") == true)
    let copy = FileCopyOperation(from: folder["none"], to: folder["b"])
    #expect(fileError(await copy.run())?.path == folder["none"].path)
    let list = FolderListingOperation(folder["none"])
    #expect(fileError(await list.run())?.action == .list)
  }

  @Test func `F1: a write replaces the whole file, keeps its permissions and follows links`()
    async throws
  {
    try bytes(5).write(to: folder["a"])
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o640], ofItemAtPath: folder["a"].path)
    try FileManager.default.createSymbolicLink(at: folder["link"], withDestinationURL: folder["a"])
    #expect(await FileWriteOperation(bytes(9), to: folder["link"]).run().result != nil)
    #expect(try Data(contentsOf: folder["a"]) == bytes(9))
    let attributes = try FileManager.default.attributesOfItem(atPath: folder["a"].path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
    #expect(try folder.names() == ["a", "link"])
  }

  @Test func `F1: a cancelled write leaves the old file and nothing else`() async throws {
    try bytes(5).write(to: folder["a"])
    let write = FileWriteOperation(Data(count: 3 << 20), to: folder["a"])
    #expect(await write.outcomeOfCancelling().isCancelled)
    #expect(try Data(contentsOf: folder["a"]) == bytes(5))
    #expect(try folder.names() == ["a"])
  }

  // MARK: Trees

  /// Creates a tree with links, permissions, times and an empty folder.
  private func makeTree() throws {
    let files = FileManager.default
    try files.createDirectory(at: folder["tree/sub/deep"], withIntermediateDirectories: true)
    try files.createDirectory(at: folder["tree/empty"], withIntermediateDirectories: true)
    try bytes(10).write(to: folder["tree/a"])
    try bytes(2_000_000).write(to: folder["tree/sub/b"])
    try bytes(0).write(to: folder["tree/sub/deep/c"])
    try files.createSymbolicLink(atPath: folder["tree/link"].path, withDestinationPath: "sub/b")
    try files.createSymbolicLink(atPath: folder["tree/broken"].path, withDestinationPath: "nowhere")
    try files.setAttributes(
      [.posixPermissions: 0o750, .modificationDate: Date(timeIntervalSince1970: 1_000_000)],
      ofItemAtPath: folder["tree/a"].path)
    try files.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder["tree/sub/deep"].path)
  }

  private func listing(_ name: String) async -> [String]? {
    await FolderListingOperation(folder[name], isRecursive: true).run().result?.map { entry in
      "\(entry.kind) \(entry.url.path.dropFirst(folder[name].path.count + 1)) "
        + (entry.kind == .file ? "\(entry.size)" : "")
    }
  }

  @Test func `a folder is listed in the order of paths, without following links`() async throws {
    try makeTree()
    let names = await FolderListingOperation(folder["tree"]).run().result?.map(
      \.url.lastPathComponent)
    #expect(names == ["a", "broken", "empty", "link", "sub"])
    #expect(
      await listing("tree") == [
        "file a 10", "symbolicLink broken ", "folder empty ", "symbolicLink link ", "folder sub ",
        "file sub/b 2000000", "folder sub/deep ", "file sub/deep/c 0",
      ])
  }

  @Test func `a tree is copied with its links, permissions and times`() async throws {
    try makeTree()
    #expect(await FileCopyOperation(from: folder["tree"], to: folder["copy"]).run().result != nil)
    #expect(await listing("copy") == listing("tree"))
    #expect(try Data(contentsOf: folder["copy/sub/b"]) == bytes(2_000_000))
    let files = FileManager.default
    #expect(try files.destinationOfSymbolicLink(atPath: folder["copy/link"].path) == "sub/b")
    let attributes = try files.attributesOfItem(atPath: folder["copy/a"].path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o750)
    #expect(attributes[.modificationDate] as? Date == Date(timeIntervalSince1970: 1_000_000))
    let deep = try files.attributesOfItem(atPath: folder["copy/sub/deep"].path)
    #expect((deep[.posixPermissions] as? NSNumber)?.intValue == 0o500)
    for name in ["tree/sub/deep", "copy/sub/deep"] {
      try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder[name].path)
    }
  }

  @Test func `F1: a failed or cancelled copy leaves nothing`() async throws {
    try makeTree()
    try Data(count: 3 << 20).write(to: folder["tree/z"])
    let copy = FileCopyOperation(from: folder["tree"], to: folder["copy"])
    #expect(await copy.outcomeOfCancelling().isCancelled)
    #expect(try folder.names() == ["tree"])
    #expect(unsafe mkfifo(folder["tree/y"].path, 0o600) == 0)
    let error = fileError(await FileCopyOperation(from: folder["tree"], to: folder["copy"]).run())
    #expect(error?.reason == .notCopied && error?.path == folder["tree/y"].path)
    #expect(try folder.names() == ["tree"])
  }

  @Test func `a move keeps the whole tree`() async throws {
    try makeTree()
    let before = await listing("tree")
    #expect(await FileMoveOperation(from: folder["tree"], to: folder["new"]).run().result != nil)
    #expect(await listing("new") == before)
    #expect(try folder.names() == ["new"])
  }

  @Test func `F2: removing a tree does not remove the targets of its links`() async throws {
    try makeTree()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: folder["tree/sub/deep"].path)
    try bytes(1).write(to: folder["outside"])
    try FileManager.default.createSymbolicLink(
      at: folder["tree/out"], withDestinationURL: folder["outside"])
    #expect(await FileRemovalOperation(folder["tree"]).run().result != nil)
    #expect(try folder.names() == ["outside"])
    let again = await FileRemovalOperation(folder["tree"]).run()
    #expect(fileError(again)?.reason == .system(code: ENOENT))
    #expect(await FileRemovalOperation(folder["tree"], mayBeMissing: true).run().result != nil)
  }

  @Test func `a very deep tree is removed`() async throws {
    var path = folder["deep"].path
    var depth = 0
    while path.utf8.count < 1_500, unsafe mkdir(path, 0o700) == 0 {
      path += "/d"
      depth += 1
    }
    #expect(depth > 500)
    #expect(await FileRemovalOperation(folder["deep"]).run().result != nil)
    #expect(try folder.names() == [])
  }
}
