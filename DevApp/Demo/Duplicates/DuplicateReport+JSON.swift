import CommandLineOperations

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension DuplicateReport {
  /// The report as a JSON object.
  func json(after duration: Duration) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(Document(self, duration))) + [UInt8(ascii: "\n")]
  }

  private struct Document: Encodable {
    struct Group: Encodable {
      let size: Int
      let files: [File]
    }

    struct Unreadable: Encodable {
      let file: File
      let error: String
    }

    struct Totals: Encodable {
      let files: Int
      let bytes: Int
      let groups: Int
      let surplusFiles: Int
      let surplusBytes: Int
      let seconds: Double
    }

    let groups: [Group]
    let unreadable: [Unreadable]
    let changed: [File]
    let totals: Totals

    init(_ report: DuplicateReport, _ duration: Duration) {
      groups = report.groups.map { Group(size: $0.size, files: $0.files.map(File.init)) }
      unreadable = report.unreadable.map { Unreadable(file: File($0.path), error: "\($0.error)") }
      changed = report.changed.map(File.init)
      totals = Totals(
        files: report.scannedFiles, bytes: report.scannedBytes, groups: report.groups.count,
        surplusFiles: report.groups.reduce(0) { $0 + $1.files.count - 1 },
        surplusBytes: report.groups.reduce(0) { $0 + $1.surplus },
        seconds: duration / .seconds(1))
    }
  }

  /// A path. If it is not UTF-8, its bytes are included in base64.
  private struct File: Encodable {
    let path: String
    let base64: String?

    init(_ path: RawPath) {
      self.path = String(decoding: path.bytes, as: UTF8.self)
      base64 = path.text == nil ? Data(path.bytes).base64EncodedString() : nil
    }
  }
}
