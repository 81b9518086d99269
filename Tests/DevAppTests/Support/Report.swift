import Foundation
import TestSupport

/// The output of `DevApp duplicates --json`.
struct Report: Decodable {
  struct File: Decodable, Hashable {
    let path: String
    let base64: String?

    /// The bytes of the path.
    var bytes: [UInt8] {
      base64.flatMap { Data(base64Encoded: $0) }.map(Array.init) ?? Array(path.utf8)
    }
  }

  struct Group: Decodable {
    let size: Int
    let files: [File]
  }

  struct Unreadable: Decodable {
    let file: File
    let error: String
  }

  struct Totals: Decodable {
    let files, bytes, groups, surplusFiles, surplusBytes: Int
    let seconds: Double
  }

  let groups: [Group]
  let unreadable: [Unreadable]
  let changed: [File]
  let totals: Totals

  init(_ printed: ProgramResult) throws {
    self = try JSONDecoder().decode(Report.self, from: printed.output)
  }

  /// The groups, with paths relative to a folder.
  func names(in folder: TemporaryFolder) -> Set<Set<String>> {
    Set(groups.map { Set($0.files.map { String($0.path.dropFirst(folder.path.count + 1)) }) })
  }
}
