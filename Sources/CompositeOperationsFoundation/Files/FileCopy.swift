internal import CompositeOperations
internal import SystemSupport

/// The copy of one file or folder.
final class FileCopy {
  private let source: String
  private let destination: String
  private let errors: FileErrors
  private let context: BlockingContext
  private let remembers: Bool

  private var done = 0
  private var total = 0
  private var block: [UInt8] = []
  private var copied: [FileStatus.Identity: FileStatus] = [:]

  /// - Parameter remembers: Whether ``hasCopied(_:)`` is called later.
  init(
    _ source: String, _ destination: String, _ errors: FileErrors, _ context: BlockingContext,
    remembering remembers: Bool = false
  ) {
    self.source = source
    self.destination = destination
    self.errors = errors
    self.context = context
    self.remembers = remembers
  }

  /// - Throws: A ``FileOperationError`` or `CancellationError`. Nothing of the copy is left then.
  func run(replacing replaces: Bool) throws {
    let name = FileName(source)
    let status = try errors.mapping(source: source) { try OpenFolder.working.status(of: name) }
    try checkDestination(of: status, replacing: replaces)
    let temporary = ReplacementFile.name(beside: destination)
    do {
      if status.kind == .folder {
        try copyFolder(to: temporary, status)
      } else {
        total = status.kind == .file ? status.size : 0
        let original = Original(
          name: name, folder: .working, path: source, status: status, mayVanish: false)
        try copy(
          original, to: Place(name: FileName(temporary), folder: .working, path: destination))
      }
      try context.checkCancellation()
      try errors.mapping(destination: destination) {
        if replaces, status.kind != .folder {
          try FileSystem.rename(temporary, to: destination)
        } else {
          try FileSystem.renameIfFree(temporary, to: destination)
        }
      }
    } catch {
      // Even after a cancellation, and ignoring further errors.
      _ = try? TreeRemoval(errors: errors, opensFolders: true, failed: { _ in }).remove(temporary)
      throw error
    }
  }

  /// Whether a file or folder was copied and has not changed since.
  func hasCopied(_ status: FileStatus) -> Bool {
    guard let copied = copied[status.identity] else { return false }
    // Removing an entry changes a folder.
    return status.kind == .folder || status.isUnchanged(since: copied)
  }

  private func checkDestination(of status: FileStatus, replacing replaces: Bool) throws {
    try errors.mapping(destination: destination) {
      if status.kind == .folder, try FileSystem.contains(destination, in: status.identity) {
        throw errors.error(source: source, .insideItself)
      }
      let there = try SystemError.nilIfMissing {
        try OpenFolder.working.status(of: FileName(destination))
      }
      if let there, !replaces || !there.isReplaced(by: status) {
        throw errors.error(existing: destination, there, source: source, status)
      }
    }
  }

  // MARK: Folders

  private func copyFolder(to temporary: String, _ status: FileStatus) throws {
    try measure()
    let from = try walk()
    let to = try errors.mapping(destination: destination) {
      try OpenFolder.working.makeFolder(FileName(temporary))
      return try OpenPath(OpenFolder(temporary), at: destination)
    }
    remember(status)
    while let step = try from.next() {
      switch step {
      case .found(let entry) where entry.status.kind == .folder:
        guard try from.enter(entry) else { continue }
        remember(entry.status)
        try errors.mapping(destination: to.path(of: entry.name)) {
          try to.innermost.makeFolder(entry.name)
          try to.enter(entry.name)
        }
      case .found(let entry):
        let original = Original(
          name: entry.name, folder: from.folder, path: from.path(of: entry.name),
          status: entry.status, mayVanish: true)
        let path = to.path(of: entry.name)
        try copy(original, to: Place(name: entry.name, folder: to.innermost, path: path))
      case .left(let entry, let folder):
        folder.close()
        // Last, because adding the contents changes its times, and needs permission to change it.
        try errors.mapping(destination: to.path(of: entry.name)) {
          let copy = try to.leave()
          defer { copy.close() }
          try copy.descriptor.copyMetadata(from: entry.status)
        }
      }
    }
    try errors.mapping(destination: destination) {
      try to.innermost.descriptor.copyMetadata(from: status)
    }
  }

  /// Computes the total number of bytes.
  private func measure() throws {
    let walk = try walk()
    while let step = try walk.next() {
      switch step {
      case .found(let entry):
        if entry.status.kind == .file { total += entry.status.size }
        if entry.status.kind == .folder { _ = try walk.enter(entry) }
      case .left(_, let folder): folder.close()
      }
    }
  }

  private func walk() throws -> TreeWalk {
    let root = try errors.mapping(source: source) { try OpenFolder(source) }
    return try TreeWalk(root, at: source, errors, context)
  }

  // MARK: Files and links

  private struct Original {
    let name: FileName
    let folder: OpenFolder
    /// The path in errors.
    let path: String
    let status: FileStatus
    /// Whether it is no error if it no longer exists.
    let mayVanish: Bool
  }

  private struct Place {
    let name: FileName
    let folder: OpenFolder
    /// The path in errors.
    let path: String
  }

  private func copy(_ original: Original, to place: Place) throws {
    switch original.status.kind {
    case .link:
      let found = try find(original) { try original.folder.target(ofLink: original.name) }
      guard let target = found else { return }
      remember(original.status)
      try errors.mapping(destination: place.path) {
        try place.folder.makeLink(place.name, to: target, like: original.status)
      }
    case .file:
      let found = try find(original) {
        try original.folder.open(original.name, .readOnly, [.noFollow, .nonBlocking])
      }
      guard let file = found else { return }
      defer { try? file.close() }
      try copyContents(of: file, original.path, to: place)
    case .folder, .other: throw errors.error(source: original.path, .notCopied)
    }
  }

  private func find<Value>(_ original: Original, _ body: () throws -> Value) throws -> Value? {
    try errors.mapping(source: original.path) {
      try original.mayVanish ? SystemError.nilIfMissing(body) : body()
    }
  }

  private func copyContents(of file: FileDescriptor, _ path: String, to place: Place) throws {
    let status = try errors.mapping(source: path) { try file.status }
    // A pipe may have replaced it since it was found.
    if status.kind != .file { throw errors.error(source: path, .notCopied) }
    remember(status)
    let copy = try errors.mapping(destination: place.path) {
      try place.folder.open(place.name, .writeOnly, .exclusiveCreate, permissions: 0o600)
    }
    do {
      try copyBytes(of: file, status, path, to: copy, place.path)
      try errors.mapping(destination: place.path) { try copy.copyMetadata(from: status) }
    } catch {
      try? copy.close()
      throw error
    }
    // A full disk may be reported only now.
    try errors.mapping(destination: place.path) { try copy.close() }
  }

  private func copyBytes(
    of file: FileDescriptor, _ status: FileStatus, _ path: String, to copy: FileDescriptor,
    _ copyPath: String
  ) throws {
    // Virtual files, such as those in /proc, have contents but no size.
    let blockSize =
      status.size > 0 ? min(status.size + 1, FileDescriptor.blockSize) : FileDescriptor.blockSize
    if block.count < blockSize { block = [UInt8](repeating: 0, count: blockSize) }
    while true {
      try context.checkCancellation()
      let count = try errors.mapping(source: path) {
        try unsafe block.withUnsafeMutableBytes { try unsafe file.read(into: $0) }
      }
      if count == 0 { return }
      try errors.mapping(destination: copyPath) {
        try unsafe block.withUnsafeBytes {
          try unsafe copy.write(UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
      }
      done += count
      context.operationContext.report(done, of: total > 0 ? max(done, total) : nil, unit: "bytes")
    }
  }

  private func remember(_ status: FileStatus) {
    if remembers { copied[status.identity] = status }
  }
}

extension FileStatus {
  /// Whether another file may replace this one, if the caller permits it.
  func isReplaced(by other: FileStatus) -> Bool {
    switch kind {
    case .file, .link: other.kind != .folder
    case .folder, .other: false
    }
  }
}
