package import CompositeOperations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What is to be written as a whole.
package struct FileTarget: Sendable {
  /// Behind all symbolic links.
  package let path: String
  /// What is there; nil if there is nothing.
  package let old: FileStatus?
  /// What is written in place of a path.
  private let file: OpenFile?

  /// What a path leads to.
  ///
  /// - Throws: What the system says if nobody may look there.
  package init(_ path: String) throws(SystemError) {
    (self.path, old) = try FileSystem.followed(path)
    file = nil
  }

  /// A file that is open already, and stays so.
  ///
  /// - Parameter name: What it is called in errors.
  package init(_ file: OpenFile, name: String) {
    (path, old, self.file) = (name, nil, file)
  }

  /// Whether both are one file, or would be.
  package func isSamePlace(as other: FileTarget) -> Bool {
    if file != nil || other.file != nil { return false }
    if let old, let other = other.old { return old.identity == other.identity }
    guard old == nil, other.old == nil else { return false }
    let (one, two) = (path.splitPath, other.path.splitPath)
    return one.name.utf8.elementsEqual(two.name.utf8)
      && FileSystem.areSame(one.folder, two.folder)
  }

  /// Writes it.
  ///
  /// A file is written beside its place, and takes that when it is whole, with the rights of the old one. What is no
  /// file, such as a device or a pipe, and what is open already is written directly.
  ///
  /// - Parameters:
  ///   - isSynchronized: Whether it is on the disk, under its name, when this returns.
  ///   - check: Asked before it takes the name, and while what is no file has no room, such as a pipe that nobody
  ///     reads; it throws to end that.
  ///   - fill: Writes it, by the function that it gets.
  /// - Throws: A `SystemError`; what `check` and `fill` throw.
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
    let file = try OpenFile(path, O_WRONLY | OpenFile.withoutWaiting)
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
