public import CompositeOperations
public import Foundation

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Copies a file, or a folder with all that is in it.
///
/// The copy gets its name when it is whole: a run that fails or is cancelled leaves nothing of it. It has the
/// rights and the times of change of the original; symbolic links are copied as links. The run tells how many
/// bytes it has copied, and fails in a ``FileOperationError``.
public struct FileCopyOperation: ComposableOperation {
  /// What is copied.
  public let source: URL
  /// What the copy is called.
  public let destination: URL
  private let replaces: Bool

  /// - Parameters:
  ///   - source: What is copied.
  ///   - destination: What the copy is called; not the folder that it comes into.
  ///   - replaces: Whether a file of that name is replaced; else, and where it is a folder, that is an error.
  public init(from source: URL, to destination: URL, replacing replaces: Bool = false) {
    self.source = source
    self.destination = destination
    self.replaces = replaces
  }

  public func perform(in context: OperationContext) async throws {
    try await BlockingOperation { context in
      let copy = FileCopy(source.path, destination.path, FileFailure(.copy))
      try copy.run(context, replaces: replaces)
    }.perform(in: context)
  }
}

/// One file or folder on its way.
struct FileCopy: Sendable {
  private let source: String
  private let destination: String
  private let failure: FileFailure

  init(_ source: String, _ destination: String, _ failure: FileFailure) {
    self.source = source
    self.destination = destination
    self.failure = failure
  }

  func run(_ context: BlockingContext, replaces: Bool) throws {
    let status = try failure.at(source) { try FileStatus(of: source) }
    try failure.at(destination) { try checkDestination(of: status, replaces: replaces) }
    let temporary = ReplacementFile.name(beside: destination)
    do {
      var count = Count(total: 0)
      if status.kind == .folder {
        try copyFolder(to: temporary, status, context, &count)
      } else {
        count.total = status.kind == .file ? status.size : 0
        try copy(source, status, to: temporary, context, &count)
      }
      try failure.at(destination) { try FileSystem.rename(temporary, to: destination) }
    } catch {
      // Also where it was cancelled.
      if let made = try? FileStatus(of: temporary) {
        try? FileTree(root: temporary).remove(made, failure, nil)
      }
      throw error
    }
  }

  private func checkDestination(of status: FileStatus, replaces: Bool) throws {
    if status.kind == .folder, contains(destination) {
      throw failure.error(source, .insideItself)
    }
    guard let there = try FileStatus.ifThere(destination) else { return }
    if !replaces || there.kind == .folder || status.kind == .folder { throw SystemError.exists }
  }

  /// Whether a path is the source or lies in it.
  private func contains(_ path: String) -> Bool {
    let outer = URL(fileURLWithPath: source).resolvingSymlinksInPath().pathComponents
    // The copy is not there yet, but its folder is.
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().resolvingSymlinksInPath().pathComponents
    return (folder + [url.lastPathComponent]).starts(with: outer)
  }

  private struct Count {
    var done = 0
    var total: Int
  }

  private func copyFolder(
    to folder: String, _ status: FileStatus, _ context: BlockingContext, _ count: inout Count
  ) throws {
    var items: [FileTree.Item] = []
    try FileTree(root: source).walk(failure, context) { items.append($0) }
    count.total = items.reduce(0) { $1.status.kind == .file ? $0 + $1.status.size : $0 }
    try failure.at(destination) { try FileSystem.makeFolder(folder) }
    var folders = [(folder, status)]
    for item in items {
      try context.checkCancellation()
      let path = ([folder] + item.names).joined(separator: "/")
      if item.status.kind == .folder {
        try failure.at(item.path) { try FileSystem.makeFolder(path) }
        folders.append((path, item.status))
      } else {
        try copy(item.path, item.status, to: path, context, &count)
      }
    }
    // The innermost first, and last of all: nobody can write into a folder without the right to.
    for (path, status) in folders.reversed() {
      try failure.at(destination) { try FileSystem.setPermissions(status.permissions, of: path) }
    }
  }

  private func copy(
    _ path: String, _ status: FileStatus, to copy: String, _ context: BlockingContext,
    _ count: inout Count
  ) throws {
    switch status.kind {
    case .link:
      let target = try failure.at(path) { try FileSystem.target(ofLink: path) }
      try failure.at(destination) { try FileSystem.makeLink(copy, to: target) }
    case .file:
      let from = try failure.at(path) { try OpenFile(path, O_RDONLY) }
      defer { try? from.close() }
      try copyBytes(of: from, status, to: copy, context, &count)
    case .folder, .other: throw failure.error(path, .notCopied)
    }
  }

  private func copyBytes(
    of from: OpenFile, _ status: FileStatus, to copy: String, _ context: BlockingContext,
    _ count: inout Count
  ) throws {
    let to = try failure.at(destination) {
      try OpenFile(copy, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    }
    do {
      var block = [UInt8](repeating: 0, count: max(1, min(status.size + 1, OpenFile.blockSize)))
      while true {
        try context.checkCancellation()
        let size = try failure.at(source) {
          try unsafe block.withUnsafeMutableBytes { try unsafe from.read(into: $0) }
        }
        if size == 0 { break }
        try failure.at(destination) {
          try unsafe block.withUnsafeBytes {
            try unsafe to.write(UnsafeRawBufferPointer(rebasing: $0[..<size]))
          }
        }
        count.done += size
        context.operation.report(count.done, of: max(count.done, count.total), unit: "bytes")
      }
      try failure.at(destination) { try to.take(status) }
    } catch {
      try? to.close()
      throw error
    }
    try failure.at(destination) { try to.close() }
  }
}
