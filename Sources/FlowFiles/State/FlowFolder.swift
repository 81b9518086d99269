import Foundation
import SystemSupport

/// The folder of a flow file, where its commands run, and the places of what the runs store.
package struct FlowFolder: Sendable {
  /// The absolute path of the folder that contains the flow file.
  let path: String
  /// The folder for the files of the flow: `.flow/<name>`.
  package let storage: String
  /// The file of the journal.
  package let journal: String

  /// - Parameters:
  ///   - file: The path of the flow file.
  ///   - flow: The name of the flow.
  ///   - journal: The path of the journal, relative to the working folder; nil for the default.
  package init(ofFile file: String, flow: String, journal: String?) {
    path = Self.path(ofFile: file)
    storage = path.path(of: ".flow/\(flow)")
    self.journal =
      journal.map { Self.absolutePath($0) }
      ?? storage.path(of: "journal.sqlite")
  }

  /// The absolute path of the folder of a flow file.
  static func path(ofFile file: String) -> String {
    let folder = String(absolutePath(file).splitPath.folder.dropLast())
    return folder.isEmpty ? "/" : folder
  }

  /// Returns the absolute path of a file, relative to the working folder, without `..`.
  static func absolutePath(_ file: String) -> String {
    guard file.pathNames.contains(where: { $0.elementsEqual("..".utf8) }) else {
      return URL(fileURLWithPath: file).standardizedFileURL.path
    }
    // The folder above a link of a folder is not the folder of the link.
    var paths = FlowPaths(in: FileManager.default.currentDirectoryPath)
    let (folder, name) = file.splitPath
    return "\(paths.followingLinks(folder))/\(name)"
  }

  /// The folder of the logs.
  var logs: String { storage.path(of: "logs") }

  /// Returns the path of the log of a step or a child.
  package func log(of name: String) -> String { logs.path(of: Self.logName(of: name)) }

  /// The name of the log of a step or a child in the folder of the logs.
  package static func logName(of name: String) -> String { fileName(name) + ".log" }

  /// The file whose lock allows one run of the flow at a time. It belongs to the journal, because
  /// runs with different journals do not know each other, and not to a link that names the journal.
  func runLock(of flow: String) -> String {
    var paths = FlowPaths(in: path)
    return "\(paths.followingLinks(journal))-\(flow).lock"
  }

  /// Returns the absolute path of a file that a step with a working folder names.
  func path(of file: String, in directory: String?) -> String {
    if file.hasPrefix("/") { return file }
    guard let directory else { return path.path(of: file) }
    return workingFolder(directory).path(of: file)
  }

  /// Returns the absolute path of the working folder of a step.
  func workingFolder(_ directory: String?) -> String {
    guard let directory else { return path }
    return directory.hasPrefix("/") ? directory : path.path(of: directory)
  }

  /// Creates the folders.
  ///
  /// - Throws: The error of the system.
  func make() throws {
    for folder in [logs, URL(fileURLWithPath: journal).deletingLastPathComponent().path] {
      do {
        // The logs and the runs are as private as the journal.
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      } catch {
        throw FlowFailure.other(
          "the folder \(folder.onOneLine) cannot be made: \(error.localizedDescription)")
      }
    }
  }

  /// The name of a step or a child as the name of a file: at most 200 bytes, without slashes.
  static func fileName(_ name: String) -> String {
    let bytes = Array(name.utf8)
    var text = ""
    for byte in bytes {
      let isSafe =
        byte > 0x20 && byte != 0x7F && byte != UInt8(ascii: "/")
        && byte != UInt8(ascii: "%")
      text +=
        isSafe && byte < 0x80
        ? String(UnicodeScalar(byte))
        : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    if text.utf8.count <= 200 { return text }
    return text.prefix(170) + "~" + String(bytes.hash64, radix: 16)
  }
}
