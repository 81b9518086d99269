import Foundation
import SystemSupport

/// The log of a step or a child: the output of the last run, and beside it those of the two runs
/// before.
package struct FlowLog {
  /// The number of runs whose logs are kept.
  package static let runs = 3

  let path: String

  package init(_ path: String) { self.path = path }

  /// The path of the log of an earlier run: 1 for the one before the last.
  package func path(ofRun index: Int) -> String { index == 0 ? path : "\(path).\(index)" }

  /// Moves the logs of earlier runs aside. A run that is resumed appends to its log.
  ///
  /// - Parameter began: When the run began, in milliseconds since 1970.
  func begin(runBegan began: Int64) throws {
    guard let status = try? FileStatus(ofFile: path) else { return }
    let time = status.modified.seconds * 1_000 + status.modified.nanoseconds / 1_000_000
    if time >= began { return }
    for index in (0..<(Self.runs - 1)).reversed() {
      do { try FileSystem.rename(path(ofRun: index), to: path(ofRun: index + 1)) } catch {
        if !error.isMissing { throw error }
      }
    }
  }

  func append(_ bytes: [UInt8]) throws(SystemError) {
    let file = try FileDescriptor.open(
      path, .writeOnly, [.create, .append], permissions: 0o644)
    defer { try? file.close() }
    try file.write(bytes, brokenPipe: .error)
  }

  /// Returns the last lines, without characters that control a terminal. Long lines are cut.
  func lastLines(_ count: Int) -> [String] {
    guard let file = try? FileDescriptor.open(path, .readOnly) else { return [] }
    defer { try? file.close() }
    let limit = 64 << 10
    if let size = try? file.status.size, size > limit { try? file.seek(to: size - limit) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: limit)
    while bytes.count <= limit, let read = try? file.read(into: &block), read > 0 {
      bytes += block[..<read]
    }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
      .suffix(count).map { String($0.prefix(500)).onOneLine }
  }
}
