import CompositeOperations
import CompositeOperationsFoundation
import Foundation
import TestSupport

/// Runs a script with the shell.
func shell(_ script: String, _ arguments: String..., in folder: String? = nil) -> ProcessOperation {
  ProcessOperation("/bin/sh", arguments: ["-c", script, "sh"] + arguments, in: folder)
}

/// A temporary folder that is removed with this object.
final class TestFolder: Sendable {
  let path: String

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.resolvingSymlinksInPath().path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func path(of name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func write(_ text: String, to name: String, permissions: Int = 0o644) throws -> String {
    let file = path(of: name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file)
    return file
  }

  func text(of name: String) throws -> String {
    try String(contentsOfFile: path(of: name), encoding: .utf8)
  }
}

/// The fields of `/proc/PID/stat` after the name: the state, the parent, the group and more.
private func fields(of identifier: Int32) -> [Substring] {
  let line = try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
  return line?.split(separator: ")").last?.split(separator: " ") ?? []
}

/// The letter of the state of a process; nil if there is no such process.
func state(of identifier: Int32) -> Substring? { fields(of: identifier).first }

/// Whether a process with this identifier exists and has not ended.
func isAlive(_ identifier: Int32) -> Bool {
  state(of: identifier).map { $0 != "Z" && $0 != "X" } ?? false
}

/// The members of a process group that have not ended.
func livingMembers(of group: Int32) -> [Int32] {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
  return names.compactMap { Int32($0) }.filter { identifier in
    let fields = fields(of: identifier)
    return fields.count > 2 && fields[2] == "\(group)" && fields[0] != "Z" && fields[0] != "X"
  }
}

/// Opens a file with close-on-exec and returns the descriptor, or -1 if it cannot be opened.
func opened(_ path: String, _ flags: Int32) -> Int32 { unsafe open(path, flags | O_CLOEXEC) }

/// Writes a short text and returns whether that succeeded.
func wrote(_ text: String, to descriptor: Int32) -> Bool {
  unsafe write(descriptor, text, text.utf8.count) == text.utf8.count
}

/// Blocks the thread until a byte is read, or five minutes have passed.
func readByte(from descriptor: Int32) {
  var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  if unsafe poll(&request, 1, 300_000) != 1 { return }
  var byte: UInt8 = 0
  _ = unsafe read(descriptor, &byte, 1)
}

/// Whether a program is installed in `/usr/bin`.
func isInstalled(_ program: String) -> Bool {
  FileManager.default.isExecutableFile(atPath: "/usr/bin/\(program)")
}
