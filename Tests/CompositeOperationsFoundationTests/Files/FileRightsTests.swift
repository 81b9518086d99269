import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import TestSupport
import Testing

@Suite struct FileRightsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func make(_ name: String, _ rights: mode_t, _ contents: Data = bytes(5)) throws {
    try contents.write(to: folder[name])
    #expect(unsafe chmod(folder[name].path, rights) == 0)
  }

  @Test func `a file of the same owner keeps setuid and setgid`() async throws {
    try make("a", 0o6755)
    #expect(await FileWriteOperation(bytes(9), to: folder["a"]).run().result != nil)
    #expect(rights(of: folder["a"]) == 0o6755)
    #expect(await FileCopyOperation(from: folder["a"], to: folder["b"]).run().result != nil)
    #expect(rights(of: folder["b"]) == 0o6755)
  }

  @Test(.enabled(if: geteuid() == 0, "Requires root to change owners."))
  func `a replaced or copied file keeps its owner and group`() async throws {
    try FileManager.default.createDirectory(
      at: folder["tree"], withIntermediateDirectories: false)
    try make("tree/a", 0o4640)
    #expect(unsafe symlink("a", folder["tree/link"].path) == 0)
    for name in ["tree/a", "tree/link", "tree"] {
      #expect(unsafe lchown(folder[name].path, 1_234, 5_678) == 0)
    }
    // The change of the owner has removed setuid.
    #expect(unsafe chmod(folder["tree/a"].path, 0o4640) == 0)
    #expect(await FileWriteOperation(bytes(9), to: folder["tree/a"]).run().result != nil)
    #expect(await FileCopyOperation(from: folder["tree"], to: folder["copy"]).run().result != nil)
    for name in ["tree", "tree/a", "tree/link", "copy", "copy/a", "copy/link"] {
      let status = status(of: folder[name])
      #expect(status.st_uid == 1_234 && status.st_gid == 5_678, "\(name)")
    }
    #expect(rights(of: folder["tree/a"]) == 0o4640)
    #expect(rights(of: folder["copy/a"]) == 0o4640)
  }

  @Test(.enabled(if: geteuid() == 0 && Unprivileged.isPossible, "Requires two users."))
  func `a file with a new owner loses setuid and setgid`() async throws {
    let place = try await Unprivileged().place
    try make("a", 0o6755)
    #expect(unsafe chmod(folder.url.path, 0o777) == 0)
    let copy = FileCopyOperation(from: folder["a"], to: folder["b"], on: place)
    #expect(await copy.run().result != nil)
    #expect(await FileWriteOperation(bytes(9), to: folder["a"], on: place).run().result != nil)
    for name in ["a", "b"] {
      #expect(status(of: folder[name]).st_uid == Unprivileged.user, "\(name)")
      #expect(rights(of: folder[name]) == 0o755, "\(name)")
    }
  }

  /// Runs an operation and collects the permissions of its hidden temporary file or folder.
  private func rightsWhileMade(
    _ operation: some ComposableOperation, inside name: String = ""
  ) async -> Set<mode_t> {
    let seen = Lock<Set<mode_t>>([])
    let folder = folder
    let outcome = await operation.atProgress { _ in
      let hidden = (try? folder.names())?.filter { $0.hasPrefix(".") } ?? []
      for temporary in hidden {
        let rights = rights(of: folder[temporary + name])
        seen.withLock { _ = $0.insert(rights) }
      }
    }.run()
    #expect(outcome.result != nil)
    return seen.withLock(\.self)
  }

  @Test func `F1: a temporary file or folder is accessible only to its owner`() async throws {
    try make("a", 0o644)
    #expect(await rightsWhileMade(FileWriteOperation(bytes(9), to: folder["a"])) == [0o600])
    #expect(
      await rightsWhileMade(FileCopyOperation(from: folder["a"], to: folder["b"])) == [0o600])
    let files = FileManager.default
    try files.createDirectory(at: folder["tree/sub"], withIntermediateDirectories: true)
    try make("tree/sub/c", 0o644)
    #expect(unsafe chmod(folder["tree/sub"].path, 0o755) == 0)
    let copy = FileCopyOperation(from: folder["tree"], to: folder["new"])
    #expect(await rightsWhileMade(copy) == [0o700])
    let second = FileCopyOperation(from: folder["tree"], to: folder["newer"])
    #expect(await rightsWhileMade(second, inside: "/sub") == [0o700])
    #expect(rights(of: folder["new/sub"]) == 0o755)
    #expect(rights(of: folder["a"]) == 0o644)
  }
}
