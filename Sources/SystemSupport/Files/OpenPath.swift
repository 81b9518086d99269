/// A path of open folders, each inside the previous one.
///
/// Each folder is opened relative to its parent, and never by its path. So a link that replaces a
/// folder cannot redirect the traversal, and paths may exceed the system's maximum length. Only
/// some folders stay open, because a process can open only a limited number; the others are
/// reopened through `..`.
package final class OpenPath {
  private struct Level {
    let name: String
    let identity: FileStatus.Identity
    /// Nil if the folder is not open.
    var folder: OpenFolder?
  }

  private static let openCount = 8

  /// The name of the root in errors.
  private let root: String
  private var outer: [Level] = []
  package private(set) var innermost: OpenFolder
  private var name = ""
  private var identity: FileStatus.Identity

  /// - Parameters:
  ///   - root: The root, which is closed by this object.
  ///   - path: The path of the root in errors.
  package init(_ root: OpenFolder, at path: String) throws(SystemError) {
    self.root = path
    innermost = root
    do { identity = try root.descriptor.status.identity } catch {
      root.close()
      throw error
    }
  }

  deinit {
    innermost.close()
    for level in outer { level.folder?.close() }
  }

  /// Returns the path of an item in the innermost folder, for errors.
  package func path(of name: FileName) -> String {
    var names = outer.dropFirst().map(\.name)
    if !outer.isEmpty { names.append(self.name) }
    return root.path(of: (names + [name.text]).joined(separator: "/"))
  }

  /// Enters a folder in the innermost one, which makes it the innermost one.
  package func enter(_ name: FileName) throws(SystemError) {
    let folder = try innermost.folder(name)
    let status: FileStatus
    do { status = try folder.descriptor.status } catch {
      folder.close()
      throw error
    }
    outer.append(Level(name: self.name, identity: identity, folder: innermost))
    (self.name, identity, innermost) = (name.text, status.identity, folder)
    let first = outer.count - Self.openCount
    if first >= 0 {
      outer[first].folder?.close()
      outer[first].folder = nil
    }
  }

  /// Leaves the innermost folder, which makes its parent the innermost one.
  ///
  /// - Returns: The folder that was left, for the caller to close.
  /// - Throws: The system's error, also if the folder has been moved to another parent.
  /// - Precondition: The innermost folder is not the root.
  package func leave() throws(SystemError) -> OpenFolder {
    guard let level = outer.last else { preconditionFailure("the root has no parent") }
    let folder = if let folder = level.folder { folder } else { try reopened(level) }
    outer.removeLast()
    defer { (name, identity, innermost) = (level.name, level.identity, folder) }
    return innermost
  }

  private func reopened(_ level: Level) throws(SystemError) -> OpenFolder {
    let folder = try innermost.folder(FileName(".."))
    if let status = try? folder.descriptor.status, status.identity == level.identity {
      return folder
    }
    folder.close()
    throw .noSuchFileOrDirectory
  }
}
