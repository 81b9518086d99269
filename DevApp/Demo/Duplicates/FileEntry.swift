import CommandLineOperations

/// A file with its version at the time when it was found.
struct FileEntry: Sendable {
  let path: RawPath
  let version: FileVersion

  /// Reads a part of the file, and checks that the file is unchanged since it was found.
  ///
  /// - Throws: A ``Problem`` if the file cannot be read, or has been changed or removed.
  func read(_ count: Int, at offset: Int, from file: OpenFile) throws(Problem) -> [UInt8] {
    let (bytes, now): ([UInt8], FileStatus)
    do throws(SystemError) {
      bytes = try file.read(count, at: offset)
      now = try file.status()
    } catch {
      throw Problem(path, error)
    }
    guard bytes.count == count, now.kind == .file, FileVersion(now) == version else {
      throw Problem(path: path, reason: .changed)
    }
    return bytes
  }

  func open() throws(Problem) -> OpenFile {
    do { return try OpenFile(path) } catch { throw Problem(path, error) }
  }
}
