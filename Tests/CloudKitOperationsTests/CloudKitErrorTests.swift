import CloudKitOperations
import CompositeOperations
import FakeCloudKit
import Foundation
import RecordOperations
import TestSupport
import Testing

/// The effects of errors of CloudKit on a mirror.
@Suite struct CloudKitErrorTests {
  @Test(arguments: [MirrorErrorTable.Column.ofRecord, .ofRequest])
  func `M8: each error of CloudKit has the effect on a round that the article names`(
    column: MirrorErrorTable.Column
  ) async throws {
    let errors = try MirrorErrorTable.errors(in: column)
    #expect(errors.count > 5)
    for (error, effect) in errors {
      let fixture = try await CloudKitFixture.private(types: ["Book"])
      let folder = try TemporaryFolder()
      let local = SQLiteRecordDatabase(folder["local.sqlite"].path)
      let mirror = RecordMirror(
        of: ["Book"], in: local, with: fixture.database,
        retries: RetryPolicy(attempts: 2, backoff: .none))
      _ = try await SaveRecords([book("bad", ["n": 1]), book("good", ["n": 1])], in: local).run()
        .get()
      fixture.server.inject { request in
        guard request.path == "records/modify" else { return nil }
        if column == .ofRecord { return .failing(record: "bad", code: error) }
        // A code with its status, or a status of a proxy.
        let parts = error.split(separator: " ")
        return parts.count == 1
          ? Int(error).map { .status($0, body: "") }
          : Int(parts[1]).map { .code(String(parts[0]), status: $0) }
      }
      let outcome = await mirror.sync.run()
      switch outcome {
      case .result(let report):
        #expect(effect == .record, "\(error)")
        #expect(report.rejected == (column == .ofRecord ? 1 : 2), "\(error)")
      case .error(let failure as RecordError):
        let isExpected = failure.isRetriable ? effect == .round : effect.isPermanent
        #expect(isExpected, "\(error): \(failure)")
      case .error, .cancelled: Issue.record("\(error): \(outcome)")
      }
      // The edits are sent after the cause has disappeared.
      fixture.server.inject { _ in nil }
      _ = try await mirror.sync.run().get()
      #expect(fixture.server.records(in: "private", zone: "Library", of: "_user").count == 2)
    }
  }
}
