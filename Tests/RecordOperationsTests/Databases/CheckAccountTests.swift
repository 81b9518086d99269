import CompositeOperations
import RecordOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct CheckAccountTests {
  private struct AccountStub: ForwardingDatabase {
    let status: AccountStatus
    let base = MemoryRecordDatabase()
    func accountStatus() async throws -> AccountStatus { status }
  }

  @Test(
    arguments: [
      .available, .noAccount, .restricted, .temporarilyUnavailable, .couldNotDetermine,
    ] as [AccountStatus])
  func `an account status is a result, and a condition that is met, skipped or failed`(
    status: AccountStatus
  ) async throws {
    let database = AccountStub(status: status)
    #expect(await CheckAccount(database).run().result == status)
    let run = QueryRecords("Book", in: database).requiring(.account(in: database)).start()
    let outcome = await run.outcome
    switch status {
    case .available: #expect(outcome.result?.isEmpty == true)
    case .noAccount, .restricted:
      #expect(outcome.isCancelled)
      let reason = "\(await run.lateOutcome as Any)"
      #expect(reason.contains("account"), "\(reason)")
    case .temporarilyUnavailable, .couldNotDetermine:
      #expect((outcome.error as? AccountError)?.status == status)
    }
  }

  @Test func `a failed status request is retried, and its error is the error of the condition`()
    async throws
  {
    let database = FaultyRecordDatabase(MemoryRecordDatabase()) { _, number in
      number < 3 ? .refusing(RecordError(.unavailable("busy"))) : nil
    }
    let check = CheckAccount(database, retries: RetryPolicy(attempts: 3))
    #expect(await check.run().result == .available)
    #expect(database.requestCount == 3)
    let away = FaultyRecordDatabase(MemoryRecordDatabase()) { _, _ in
      .refusing(RecordError(.unavailable("busy")))
    }
    let query = QueryRecords("Book", in: database)
      .requiring(.account(in: away, retries: RetryPolicy(attempts: 2)))
    #expect((await query.run().error as? RecordError)?.name == "unavailable")
  }
}
