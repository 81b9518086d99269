/// A file that is written beside another one, and replaces it when it is complete.
package enum ReplacementFile {
  /// Writes a file and renames it to a path.
  ///
  /// - Parameters:
  ///   - path: The path of the file to replace.
  ///   - old: The status whose owner and permissions the file gets; nil for the defaults of a new
  ///     file.
  ///   - isSynchronized: Whether the file is on the disk, under its name, when this returns.
  ///   - check: Called before the file is renamed. It throws to leave everything as it was.
  ///   - fill: Writes the file.
  package static func make(
    for path: String, like old: FileStatus?, synchronized isSynchronized: Bool,
    _ check: () throws -> Void, _ fill: (FileDescriptor) throws -> Void
  ) throws {
    // Opened first: if the folder cannot be opened, it cannot be synchronized.
    let folder = isSynchronized ? try OpenFolder(path.splitPath.folder, followingLink: true) : nil
    defer { folder?.close() }
    let temporary = name(beside: path)
    // No other user can read the file before it has the permissions of the old one.
    let permissions: FilePermissions = old == nil ? 0o666 : 0o600
    let file = try FileDescriptor.open(
      temporary, .writeOnly, .exclusiveCreate, permissions: permissions)
    do {
      do {
        try fill(file)
        if let old { try file.copyRights(from: old) }
        if isSynchronized { try file.synchronize() }
      } catch {
        try? file.close()
        throw error
      }
      // Some file systems report a lack of space only here.
      try file.close()
      try check()
      try FileSystem.rename(temporary, to: path)
    } catch {
      try? OpenFolder.working.removeFile(FileName(temporary))
      throw error
    }
    try folder?.descriptor.synchronize()
  }

  /// Returns a hidden, unused name in the same folder.
  package static func name(beside path: String) -> String {
    let (folder, name) = path.splitPath
    let suffix = String(UInt64.random(in: 0...UInt64.max), radix: 36)
    // A name can have 255 bytes, and this one is longer than the original.
    let beginning = String(decoding: Array(name.utf8.prefix(200)), as: UTF8.self)
    return "\(folder).\(beginning).\(suffix)"
  }
}
