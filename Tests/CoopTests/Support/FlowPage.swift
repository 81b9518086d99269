import Foundation
import SQLiteSupport
import TestSupport

/// The page of the journal of a flow file.
extension FlowFixture {
  /// Serves the page while a closure runs.
  ///
  /// - Parameter journal: The name of the journal; nil for the default.
  func serving(
    _ journal: String? = nil, _ options: String...,
    during body: (PageFixture) async throws -> Void
  ) async throws -> ProgramResult {
    try await PageFixture.serving(
      journal.map { folder.path + "/" + $0 } ?? self.journal, in: folder, options, during: body)
  }

  /// The path of the journal.
  var journal: String { folder.path + "/.flow/f/state.sqlite" }

  /// The texts in the first column of a statement; none while the journal is missing.
  static func stored(_ sql: String, in journal: String) -> [String] {
    let connection = try? SQLiteConnection.open(
      journal, for: .reading, SQLiteConfiguration(access: .existing))
    return (try? connection?.fetchAll(sql) { $0.text(at: 0) ?? "" }) ?? []
  }
}

/// A step of a flow file, as the page shows it as JSON.
struct ShownStep: Decodable, Sendable {
  struct Log: Decodable, Sendable {
    let path: String
    let size: Int?
    let problem: String?
  }

  let name: String
  let state: String
  let reason: String?
  let needs: [String]?
  let after: [String]?
  let attempts: Int?
  let children: Int?
  let log: Log?
  let outputIsOnWorkerOf: String?
}

extension PageFixture {
  /// The steps of a run of a flow file.
  func steps(_ path: String) async throws -> [ShownStep] {
    struct Run: Decodable { let flowFile: File }
    struct File: Decodable { let steps: [ShownStep] }
    let text = try await get(path, asJSON: true).text
    return try JSONDecoder().decode(Run.self, from: Data(text.utf8)).flowFile.steps
  }
}
