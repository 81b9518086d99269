import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import TestSupport
import Testing

/// Moves to another disk: a file system in memory, if the system has one.
@Suite(.enabled(if: otherDisk != nil, "Requires two disks."), .timeLimit(.minutes(10)))
struct FileMoveTests {
  private let folder: TemporaryFolder
  private let other: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    other = try TemporaryFolder(in: otherDisk ?? FileManager.default.temporaryDirectory)
    try FileManager.default.createDirectory(
      at: folder["tree/sub"], withIntermediateDirectories: true)
    try bytes(3).write(to: folder["tree/a"])
    try bytes(2_000_000).write(to: folder["tree/sub/b"])
    try bytes(1).write(to: folder["tree/sub/c"])
    _ = try folder.link("tree/link", to: "sub/b")
  }

  private func names(in folder: TemporaryFolder, _ name: String) async -> [String]? {
    await FolderListingOperation(folder[name], isRecursive: true).run().result?
      .map { String($0.url.path.dropFirst(folder[name].path.count + 1)) }
  }

  private let all = ["a", "link", "sub", "sub/b", "sub/c"]

  @Test func `a move to another disk keeps contents, permissions and times`() async throws {
    #expect(unsafe chmod(folder["tree/a"].path, 0o4751) == 0)
    #expect(unsafe chmod(folder["tree/sub"].path, 0o500) == 0)
    var times = [timespec(tv_sec: 1_000, tv_nsec: 7), timespec(tv_sec: 2_000, tv_nsec: 7)]
    for name in ["tree/a", "tree/sub", "tree"] {
      #expect(unsafe utimensat(AT_FDCWD, folder[name].path, &times, 0) == 0)
    }
    let move = FileMoveOperation(from: folder["tree"], to: other["new"])
    #expect(await move.run().result != nil)
    #expect(try folder.names() == [])
    #expect(await names(in: other, "new") == all)
    #expect(rights(of: other["new/a"]) == 0o4751)
    #expect(rights(of: other["new/sub"]) == 0o500)
    for name in ["new/a", "new/sub", "new"] {
      let time = changeTime(of: other[name])
      #expect(time.tv_sec == 2_000 && time.tv_nsec == 7, "\(name)")
    }
    #expect(await FileReadOperation(other["new/sub/b"]).run().result == bytes(2_000_000))
    #expect(unsafe chmod(other["new/sub"].path, 0o700) == 0)
  }

  @Test(.enabled(if: Unprivileged.isPossible, "Requires a user other than root."))
  func `folders without write permission are moved, and removed after a failed copy`() async throws
  {
    let place = try await Unprivileged().place
    for folder in [folder, other] { #expect(unsafe chmod(folder.url.path, 0o777) == 0) }
    for name in ["tree", "tree/a", "tree/sub", "tree/sub/b", "tree/sub/c"] {
      #expect(unsafe chown(folder[name].path, Unprivileged.user, gid_t.max) == 0)
    }
    #expect(unsafe chmod(folder["tree/sub"].path, 0o500) == 0)
    let move = FileMoveOperation(from: folder["tree"], to: other["new"], on: place)
    #expect(await move.run().result != nil)
    #expect(try folder.names() == [])
    #expect(rights(of: other["new/sub"]) == 0o500)
    // A failed copy removes such folders, too.
    #expect(unsafe mkfifo(other["new/z"].path, 0o600) == 0)
    let copy = FileCopyOperation(from: other["new"], to: folder["back"], on: place)
    #expect(fileError(await copy.run())?.reason == .notCopied)
    #expect(try folder.names() == [])
    #expect(unsafe chmod(other["new/sub"].path, 0o700) == 0)
  }

  @Test(arguments: ["added", "sub/b"])
  func `F2: a file that is added or changed during a move stays, and is an error`(name: String)
    async throws
  {
    let changed = folder["tree/\(name)"]
    let move = FileMoveOperation(from: folder["tree"], to: other["new"]).atProgress { completed in
      // After the last byte.
      if completed == 2_000_004 { try? bytes(5).write(to: changed) }
    }
    let error = fileError(await move.run())
    #expect(error?.reason == .notRemoved(code: nil) && error?.path == changed.path)
    #expect(error?.description.contains("The rest of the copy is complete.") == true)
    #expect(await names(in: other, "new") == all)
    let left = name == "added" ? ["added"] : ["sub", "sub/b"]
    #expect(await names(in: folder, "tree") == left)
    #expect(try Data(contentsOf: changed) == bytes(5))
  }

  @Test func `a cancelled move changes nothing`() async throws {
    let move = FileMoveOperation(from: folder["tree"], to: other["new"])
    #expect(await move.outcomeOfCancelling().isCancelled)
    #expect(await names(in: folder, "tree") == all)
    #expect(try other.names() == [])
  }

  @Test func `a move to another disk overwrites nothing`() async throws {
    let there = other["new"]
    let move = FileMoveOperation(from: folder["tree/a"], to: there)
      .atProgress { _ in try? bytes(9).write(to: there) }
    #expect(fileError(await move.run())?.reason == .system(code: EEXIST))
    #expect(folder.size(of: "tree/a") == 3 && other.size(of: "new") == 9)
    #expect(try other.names() == ["new"])
  }
}
