/// A destination that is written as a whole.
package struct FileTarget: Sendable {
  /// The path after following all symbolic links.
  package let path: String
  /// The status of the existing file; nil if there is none.
  package let old: FileStatus?
  /// An open file that is written instead of the path.
  private let file: FileDescriptor?

  /// Creates a target for a path.
  ///
  /// - Throws: The system's error if the path cannot be examined.
  package init(_ path: String) throws(SystemError) {
    (self.path, old) = try FileSystem.followed(path)
    file = nil
  }

  /// Creates a target for a file that is already open, and stays open.
  ///
  /// - Parameter name: The name of the file in errors.
  package init(_ file: FileDescriptor, name: String) {
    (path, old, self.file) = (name, nil, file)
  }

  /// Returns whether both targets are, or would become, the same file.
  package func isSamePlace(as other: FileTarget) -> Bool {
    if file != nil || other.file != nil { return false }
    if let old, let other = other.old { return old.identity == other.identity }
    guard old == nil, other.old == nil else { return false }
    let (one, two) = (path.splitPath, other.path.splitPath)
    return one.name.utf8.elementsEqual(two.name.utf8)
      && FileSystem.areSame(one.folder, two.folder)
  }

  /// Writes the target.
  ///
  /// A file is written beside its destination, and replaces it when it is complete, with the
  /// permissions of the old file. Anything else, such as a device or a pipe, is written directly,
  /// as is a file that is already open.
  ///
  /// - Parameters:
  ///   - isSynchronized: Whether the file is on the disk, under its name, when this returns.
  ///   - check: Called before the old file is replaced, and repeatedly while a destination that is
  ///     not a file has no room, such as a pipe without a reader. It throws to stop the write.
  ///   - fill: Writes the contents with the function that it is given.
  /// - Throws: A `SystemError`, or the error of `check` or `fill`.
  package func write(
    synchronized isSynchronized: Bool, _ check: @escaping () throws -> Void,
    _ fill: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    if let file {
      let status = try file.status
      return try unsafe fill { bytes in
        status.kind == .file
          ? try unsafe file.write(bytes) : try unsafe file.write(inPieces: bytes, waiting: check)
      }
    }
    if let old, old.kind != .file {
      return try unsafe writeDirectly(synchronized: isSynchronized, check, fill)
    }
    try ReplacementFile.make(for: path, like: old, synchronized: isSynchronized, check) { file in
      try unsafe fill { try unsafe file.write($0) }
    }
  }

  private func writeDirectly(
    synchronized isSynchronized: Bool, _ check: @escaping () throws -> Void,
    _ fill: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    let file = try FileDescriptor.open(path, .writeOnly, .nonBlocking)
    do {
      try unsafe fill { try unsafe file.write($0, waiting: check) }
      if isSynchronized { try file.synchronize() }
    } catch {
      try? file.close()
      throw error
    }
    try file.close()
  }
}
