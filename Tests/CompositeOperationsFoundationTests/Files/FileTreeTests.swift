import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import TestSupport
import Testing

/// Trees that change during an operation, and unusual trees.
@Suite struct FileTreeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func makeFolder(_ name: String) throws {
    try FileManager.default.createDirectory(at: folder[name], withIntermediateDirectories: true)
  }

  private func setTime(_ name: String, _ time: Int) {
    var times = [timespec(tv_sec: time, tv_nsec: 7), timespec(tv_sec: time, tv_nsec: 7)]
    #expect(unsafe utimensat(AT_FDCWD, folder[name].path, &times, AT_SYMLINK_NOFOLLOW) == 0)
  }

  @Test func `copied folders and links keep their times`() async throws {
    try makeFolder("tree/sub/deep")
    try bytes(1).write(to: folder["tree/sub/a"])
    _ = try folder.link("tree/sub/link", to: "a")
    let names = ["tree/sub/link", "tree/sub/deep", "tree/sub", "tree"]
    for (index, name) in names.enumerated() { setTime(name, 1_000 + index) }
    #expect(await FileCopyOperation(from: folder["tree"], to: folder["copy"]).run().result != nil)
    for (index, name) in names.enumerated() {
      let time = changeTime(of: folder["copy" + name.dropFirst(4)])
      #expect(time.tv_sec == 1_000 + index && time.tv_nsec == 7, "\(name)")
    }
  }

  @Test func `files that disappear during an operation are skipped`() async throws {
    try makeFolder("tree/c")
    for name in ["tree/a", "tree/b", "tree/c/d", "tree/e"] { try bytes(3).write(to: folder[name]) }
    let folder = folder
    let removeFiles: @Sendable (Int) -> Void = { _ in
      for name in ["tree/b", "tree/c"] { try? FileManager.default.removeItem(at: folder[name]) }
    }
    let copy = FileCopyOperation(from: folder["tree"], to: folder["copy"]).atProgress(removeFiles)
    #expect(await copy.run().result != nil)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder["copy"].path).sorted() == [
        "a", "e",
      ])
    try bytes(3).write(to: folder["tree/b"])
    let list = FolderListingOperation(folder["tree"]).atProgress(removeFiles)
    #expect(await list.run().result?.map(\.url.lastPathComponent) == ["a", "e"])
    try makeFolder("tree/c/d")
    let remove = FileRemovalOperation(folder["tree"]).atProgress(removeFiles)
    #expect(await remove.run().result != nil)
    #expect(try folder.names() == ["copy"])
  }

  @Test func `F2: a removal does not follow a link that replaces a folder`() async throws {
    try makeFolder("tree/b")
    try makeFolder("outside")
    for name in ["tree/a", "tree/b/c", "outside/c"] { try bytes(3).write(to: folder[name]) }
    let folder = folder
    let remove = FileRemovalOperation(folder["tree"]).atProgress { completed in
      guard completed == 1 else { return }
      #expect(unsafe rename(folder["tree/b"].path, folder["away"].path) == 0)
      #expect(unsafe symlink(folder["outside"].path, folder["tree/b"].path) == 0)
    }
    #expect(await remove.run().result != nil)
    #expect(folder.size(of: "outside/c") == 3 && folder.size(of: "away/c") == 3)
    #expect(try folder.names() == ["away", "outside"])
  }

  /// Creates nested folders whose path is longer than the system allows.
  private func makeDeepFolders(_ name: String, depth: Int) throws {
    try makeFolder(name)
    var open = openFolder(folder[name])
    let step = String(repeating: "d", count: 100)
    for _ in 0..<depth {
      #expect(unsafe mkdirat(open, step, 0o700) == 0)
      let next = unsafe openat(open, step, O_RDONLY | O_DIRECTORY)
      #expect(next >= 0)
      close(open)
      open = next
    }
    let file = unsafe openat(open, "file", O_WRONLY | O_CREAT, 0o600)
    #expect(file >= 0)
    close(file)
    close(open)
  }

  @Test func `trees deeper than the longest path are listed, copied and removed`() async throws {
    try makeDeepFolders("tree", depth: 100)
    #expect(await FileCopyOperation(from: folder["tree"], to: folder["copy"]).run().result != nil)
    for name in ["tree", "copy"] {
      let list = await FolderListingOperation(folder[name], isRecursive: true).run().result
      #expect(list?.count == 101)
      #expect(list?.last?.kind == .file)
      #expect(await FileRemovalOperation(folder[name]).run().result != nil)
    }
    #expect(try folder.names() == [])
  }

  #if os(Linux)
    @Test func `names that are not UTF-8 are copied and removed, but cannot be listed`()
      async throws
    {
      try makeFolder("tree")
      let tree = openFolder(folder["tree"])
      defer { close(tree) }
      let name: [CChar] = [0x66, -1, -128, 0]
      let file = unsafe openat(tree, name, O_WRONLY | O_CREAT, 0o600)
      #expect(file >= 0)
      close(file)
      #expect(await FileCopyOperation(from: folder["tree"], to: folder["copy"]).run().result != nil)
      #expect(unsafe access(folder["copy"].path, F_OK) == 0)
      let copy = openFolder(folder["copy"])
      defer { close(copy) }
      #expect(unsafe faccessat(copy, name, F_OK, 0) == 0)
      let error = fileError(await FolderListingOperation(folder["tree"]).run())
      #expect(error?.reason == .notUTF8)
      #expect(error?.description.contains("tree/f\u{FFFD}\u{FFFD}: its name is not UTF-8") == true)
      for name in ["tree", "copy"] {
        #expect(await FileRemovalOperation(folder[name]).run().result != nil)
      }
      #expect(try folder.names() == [])
    }
  #endif
}

private func openFolder(_ url: URL) -> CInt {
  let descriptor = unsafe open(url.path, O_RDONLY | O_DIRECTORY)
  #expect(descriptor >= 0)
  return descriptor
}
