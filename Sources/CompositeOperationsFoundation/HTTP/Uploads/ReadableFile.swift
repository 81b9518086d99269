internal import CompositeOperations
internal import Foundation
internal import SystemSupport

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Checks a file before Foundation reads it, because its errors say less.
enum ReadableFile {
  /// - Returns: The size of the file in bytes.
  static func size(of url: URL) throws(FileError) -> Int {
    guard let path = url.pathOfFile else {
      throw FileError(
        url.withoutSecrets, "cannot be read", because: "it is not a file URL. Download it first.")
    }
    let status: FileStatus
    do throws(SystemError) {
      let file = try OpenFile(path, O_RDONLY | OpenFile.withoutWaiting)
      defer { try? file.close() }
      status = try file.status
    } catch {
      let advice = error.isMissing ? "Check its path." : "Use a readable file."
      throw FileError(path, "cannot be read", error, because: "\(error). \(advice)")
    }
    guard status.kind == .file else {
      throw FileError(
        path, "cannot be sent",
        because: "it is a folder or a device, which has no known length. Use a file.")
    }
    return status.size
  }
}
