internal import CompositeOperations

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A file that is made beside another one, and takes its name when it is whole.
package enum ReplacementFile {
  /// - Parameters:
  ///   - path: Whose name it takes.
  ///   - old: Whose owner and rights it gets; nil for those of a new file.
  ///   - isSynchronized: Whether it is on the disk, under its name, when this returns.
  ///   - check: Asked before it takes the name; it throws to leave everything as it was.
  ///   - fill: Writes it.
  package static func make(
    for path: String, like old: FileStatus?, synchronized isSynchronized: Bool,
    _ check: () throws -> Void, _ fill: (OpenFile) throws -> Void
  ) throws {
    // Before anything is done: where it cannot be opened, it cannot be synchronized.
    let folder = isSynchronized ? try OpenFolder(path.splitPath.folder, followingLink: true) : nil
    defer { folder?.close() }
    let temporary = name(beside: path)
    // Nobody else reads it before it has the rights of the old one.
    let mode: FilePermissions = old == nil ? 0o666 : 0o600
    let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
    do {
      do {
        try fill(file)
        if let old { try file.takeRights(of: old) }
        if isSynchronized { try file.synchronize() }
      } catch {
        try? file.close()
        throw error
      }
      // It may say only now that there was no room.
      try file.close()
      try check()
      try FileSystem.rename(temporary, to: path)
    } catch {
      try? OpenFolder.working.removeFile(FileName(temporary))
      throw error
    }
    try folder?.file.synchronize()
  }

  /// A hidden name in the same folder that nobody else has.
  package static func name(beside path: String) -> String {
    let (folder, name) = path.splitPath
    let suffix = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    // A name may have 255 bytes, and this one has some more than the other.
    let beginning = String(decoding: Array(name.utf8.prefix(200)), as: UTF8.self)
    return "\(folder).\(beginning).\(suffix)"
  }
}
