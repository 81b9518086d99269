import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import SystemSupport
import TestSupport
import Testing

@Suite struct FileErrorTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// One operation of every kind on files.
  private func operations(
    from source: URL, to destination: URL, on place: BlockingPlace = .threads
  ) -> [(action: FileOperationError.Action, operation: AnyOperation<Void>)] {
    [
      (.read, AnyOperation(FileReadOperation(source, on: place).map { _ in })),
      (.list, AnyOperation(FolderListingOperation(source, on: place).map { _ in })),
      (.remove, AnyOperation(FileRemovalOperation(source, on: place))),
      (.copy, AnyOperation(FileCopyOperation(from: source, to: destination, on: place))),
      (.move, AnyOperation(FileMoveOperation(from: source, to: destination, on: place))),
      (.write, AnyOperation(FileWriteOperation(Data(), to: destination, on: place))),
    ]
  }

  @Test func `the error of a missing file names the file and the remedy`() async {
    for (action, operation) in operations(from: folder["none"], to: folder["no/b"]) {
      let path = folder[action == .write ? "no/b" : "none"].path
      let advice =
        action == .write
        ? "Create the folder first, or use another path." : "Check the path."
      #expect(
        fileError(await operation.run())?.description
          == "Cannot \(action.rawValue) \(path): No such file or directory. \(advice)")
    }
  }

  @Test func `the error of a missing destination folder names the destination`() async throws {
    try bytes(1).write(to: folder["a"])
    for (action, operation) in operations(from: folder["a"], to: folder["no/b"])
    where action == .copy || action == .move {
      #expect(
        fileError(await operation.run())?.description
          == "Cannot \(action.rawValue) \(folder["no/b"].path): No such file or directory. "
          + "Create the folder first, or use another path.")
    }
  }

  @Test(arguments: ["https://example.com/a", "a/b", "data:,a", "file:///tmp/a%00b"])
  func `a URL that is not a file URL is an error`(text: String) async throws {
    let url = try #require(URL(string: text))
    let good = folder["a"]
    for (source, destination) in [(url, url), (good, url)] {
      for (action, operation) in operations(from: source, to: destination) {
        let isAboutURL = source == url || action == .copy || action == .move || action == .write
        guard isAboutURL else { continue }
        #expect(
          fileError(await operation.run())?.description
            == "Cannot \(action.rawValue) \(url.absoluteString): it is not a file URL. "
            + "Use a URL that begins with file:///.", "\(action)")
      }
    }
    #expect(try folder.names() == [])
  }

  @Test func `F3: the advice is to try again only if the same call can succeed later`() async throws
  {
    let transient: Set = [EINTR, EAGAIN, ENOMEM, EBUSY, ETXTBSY, ESTALE, ETIMEDOUT]
    for code in 1..<Int32(140) {
      let advice = SystemError(code: code).advice
      #expect(advice.contains("Try again") == transient.contains(code), "\(code): \(advice)")
    }
    _ = try folder.link("a", to: "b")
    _ = try folder.link("b", to: "a")
    let long = folder[String(repeating: "x", count: 300)]
    for (action, operation) in operations(from: folder["a/c"], to: folder["a/d"]) {
      let error = fileError(await operation.run())
      #expect(error?.reason == .system(code: ELOOP), "\(action)")
      #expect(
        error?.description.hasSuffix(". Check the symbolic links in the path, or use another path.")
          == true)
    }
    for (action, operation) in operations(from: long, to: long) {
      let error = fileError(await operation.run())
      #expect(error?.reason == .system(code: ENAMETOOLONG), "\(action)")
      #expect(error?.description.hasSuffix(". Use a shorter path.") == true)
    }
  }

  @Test func `F3: the advice about a folder that is not empty depends on the action`() async throws
  {
    for name in ["tree", "full"] {
      try FileManager.default.createDirectory(at: folder[name], withIntermediateDirectories: false)
      try bytes(1).write(to: folder["\(name)/a"])
    }
    // The same rename fails again.
    let error = #expect(throws: SystemError.self) {
      try FileSystem.rename(folder["tree"].path, to: folder["full"].path)
    }
    #expect(error == .directoryNotEmpty && error?.isTransient == false)
    #expect(error?.advice == "Use another path.")
    for (action, operation) in operations(from: folder["tree"], to: folder["full"])
    where action == .copy || action == .move {
      #expect(fileError(await operation.run())?.description.contains("ry again") == false)
    }
    // Another removal succeeds.
    let added = folder["tree/added"]
    let removal = FileRemovalOperation(folder["tree"]).atProgress { completed in
      if completed == 1 { try? Data().write(to: added) }
    }
    #expect(
      fileError(await removal.run())?.description
        == "Cannot remove \(folder["tree"].path): Directory not empty. Try again: it was changed "
        + "during the removal.")
    #expect(await FileRemovalOperation(folder["tree"]).run().result != nil)
  }

  @Test func `F3: the advice is never to remove the source of a copy or a move`() async throws {
    try FileManager.default.createDirectory(
      at: folder["c/d"], withIntermediateDirectories: true)
    for name in ["a", "other", "c/d/e"] { try bytes(1).write(to: folder[name]) }
    try FileManager.default.linkItem(at: folder["a"], to: folder["second"])
    _ = try folder.link("link", to: "a")
    _ = try folder.link("inner", to: "c/d")
    let remedy = "Remove it first, use another path, or pass `replacing: true`."
    for (source, destination, isRemovable) in [
      ("a", "other", true), ("a", "c", true), ("a", "second", true), ("a", "link", true),
      ("c/d", "a", true), ("c", "inner", true),
      ("a", "a", false), ("a", "c/../a", false), ("second", "second", false),
      ("link", "link", false), ("c/d/e", "inner/e", false),
      ("c/d/e", "c/d", false), ("c/d/e", "c", false), ("inner/e", "c", false),
    ] {
      for (action, operation) in operations(from: folder[source], to: folder[destination])
      where action == .copy || action == .move {
        let path = folder[destination].path
        let advice =
          isRemovable ? remedy : "It is the source or contains it. Use another path."
        #expect(
          fileError(await operation.run())?.description
            == "Cannot \(action.rawValue) \(path): File exists. \(advice)",
          "\(source) to \(destination)")
      }
    }
    // For a copy, the destination is also inside the source.
    let move = FileMoveOperation(from: folder["c"], to: folder["c"], replacing: true)
    #expect(
      fileError(await move.run())?.description.hasSuffix(
        "File exists. It is the source or contains it. Use another path.") == true)
    #expect(try folder.names() == ["a", "c", "inner", "link", "other", "second"])
  }

  @Test(.enabled(if: Unprivileged.isPossible, "Requires a user other than root."))
  func `a missing permission is an error that names the file`() async throws {
    let place = try await Unprivileged().place
    for name in ["closed", "open", "tree"] {
      try FileManager.default.createDirectory(at: folder[name], withIntermediateDirectories: false)
      try bytes(1).write(to: folder["\(name)/a"])
      #expect(unsafe chmod(folder["\(name)/a"].path, 0o600) == 0)
      #expect(unsafe chown(folder["\(name)/a"].path, Unprivileged.user, gid_t.max) == 0)
    }
    let secret = folder["tree/a"]
    #expect(unsafe chmod(secret.path, 0) == 0)
    #expect(unsafe chmod(folder["open"].path, 0o777) == 0)
    #expect(unsafe chmod(folder["closed"].path, 0o555) == 0)
    defer { _ = unsafe chmod(folder["closed"].path, 0o700) }
    let (closed, open) = (folder["closed/a"], folder["open/a"])
    let denied = "Permission denied."
    let ask = "Get permission to access it first."
    let elsewhere = "Use a path that is writable."
    for (operation, expected) in [
      (
        AnyOperation(FileRemovalOperation(closed, on: place)),
        "remove \(closed.path): \(denied) \(ask)"
      ),
      (
        AnyOperation(FileMoveOperation(from: closed, to: folder["open/b"], on: place)),
        "move \(closed.path): \(denied) \(ask)"
      ),
      (
        AnyOperation(FileMoveOperation(from: open, to: folder["closed/b"], on: place)),
        "move \(folder["closed/b"].path): \(denied) \(elsewhere)"
      ),
      (
        AnyOperation(FileCopyOperation(from: open, to: folder["closed/b"], on: place)),
        "copy \(folder["closed/b"].path): \(denied) \(elsewhere)"
      ),
      (
        AnyOperation(FileWriteOperation(bytes(2), to: closed, on: place)),
        "write \(closed.path): \(denied) \(elsewhere)"
      ),
    ] {
      #expect(fileError(await operation.run())?.description == "Cannot \(expected)")
    }
    let read = FileReadOperation(secret, on: place)
    #expect(
      fileError(await read.run())?.description == "Cannot read \(secret.path): \(denied) \(ask)")
    // The error of a copied tree names the file itself.
    let tree = FileCopyOperation(from: folder["tree"], to: folder["open/b"], on: place)
    #expect(
      fileError(await tree.run())?.description == "Cannot copy \(secret.path): \(denied) \(ask)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder["open"].path) == ["a"])
  }

  @Test func `removing a file of the proc file system is an error`() async {
    // On Linux, not even root can remove it. Other systems do not have the file.
    let error = fileError(
      await FileRemovalOperation(URL(fileURLWithPath: "/proc/version")).run())
    #if os(Linux)
      #expect(error?.description.contains("Get permission to access it first.") == true)
    #else
      #expect(error?.description.contains("Check the path.") == true)
    #endif
  }
}
