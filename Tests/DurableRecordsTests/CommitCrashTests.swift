import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import RecordOperations
import Testing

/// Kills a process that runs a flow with committed steps, and checks the records.
@Suite struct CommitCrashTests {
  @Test(.timeLimit(.minutes(10)))
  func `J25: a process killed before or after any commit saves its records once`() async throws {
    let undisturbed = try await UndisturbedFlow("commit")
    let kills = (1...undisturbed.commits).flatMap { [("before", $0), ("after", $0)] }.map {
      moment, commit in
      SimpleOperation {
        let folder = try CrashFolder()
        let (status, _) = try await folder.run("commit", launch: 0, moment, "\(commit)")
        // The parts may share a commit, so that there is one less.
        #expect(status == SIGKILL || commit == undisturbed.commits, "\(moment) \(commit)")
        let output = try await folder.run("commit", launch: 1).output
        #expect(output.hasPrefix(undisturbed.outcome + "\n"), "\(moment) \(commit): \(output)")
        let records = SQLiteRecordDatabase(folder.journal)
        let counters = try await QueryRecords("Counter", in: records).run().get()
        let counts = try counters.map { "\($0.id.name) \(try $0.value("count", as: Int.self))" }
        #expect(counts.sorted() == ["a 1", "b 1", "steps 3"], "\(moment) \(commit)")
        #expect(try await RunStore.sqlite(folder.journal).check() == [])
      }
    }
    _ = try await ParallelOperation(kills, width: .limited(to: 4)).run().get()
  }
}
