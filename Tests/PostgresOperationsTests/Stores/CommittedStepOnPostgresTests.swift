internal import CompositeOperations
internal import DurableOperations
internal import DurableRecords
internal import RecordOperations
internal import Testing

@Suite(.enabled(if: PrivateServer.whatIsMissing == nil), .timeLimit(.minutes(10)))
struct CommittedStepOnPostgresTests {
  @Test func `K1: a committed step of a run on a queue is an error that names the store`()
    async throws
  {
    let queue = try await TestQueue()
    let flow = DurableOperation(SavesRecord(), named: "r", in: queue.store())
    let outcome = await flow.run()
    let cause = (outcome.error as? SequentialOperationError)?.cause
    let error = try #require(cause as? CommittedStepError, "\(outcome)")
    #expect(error.reason == .noFile)
    #expect(
      "\(error)".hasPrefix(
        "run r, step 0, CommittedStep: the records are in /nonexistent/none.sqlite, and the run is "
          + "stored in "))
    #expect("\(error)".contains("queue '\(queue.name)'; store the run in the same file"))
  }
}

private struct SavesRecord: DurableSequence {
  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    guard previous == nil else { return nil }
    return CommittedStep(in: SQLiteRecordDatabase("/nonexistent/none.sqlite")) { records in
      try records.save([DatabaseRecord("Record", "1")])
    }
  }
}
