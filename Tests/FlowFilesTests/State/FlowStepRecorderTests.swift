import CompositeOperations
import FlowFiles
import Testing

@Suite struct FlowStepRecorderTests {
  private struct Request: Sendable {
    let records: @Sendable () -> [FlowStepRecord]
    let onFailure: @Sendable ([FlowStepRecord]) -> Void
  }

  /// A journal that stores records, or fails, when the test says it.
  private final class Journal: Sendable {
    private let requests = Lock<[Request]>([])

    func recorder() -> FlowStepRecorder {
      // A request keeps the recorder.
      FlowStepRecorder { [weak self] records, onFailure in
        self?.requests.withLock { $0.append(Request(records: records, onFailure: onFailure)) }
      }
    }

    /// A request of a recorder. All of them are equal, also those of its timer.
    func request(of recorder: FlowStepRecorder) throws -> Request {
      recorder.store()
      let last = requests.withLock(\.last)
      return try #require(last)
    }

    func stored(by recorder: FlowStepRecorder) throws -> [FlowStepRecord] {
      try request(of: recorder).records().sorted { $0.unit < $1.unit }
    }
  }

  private let begun = FlowStepRecord(unit: "a", attempts: 1, began: 1)
  private let repeated = FlowStepRecord(unit: "a", attempts: 2)
  private let failed = FlowStepRecord(
    unit: "a", state: .failed, reason: "x", attempts: 2, ended: 5)
  private let other = FlowStepRecord(unit: "b", attempts: 1, began: 2)
  private let all = FlowStepRecord(
    unit: "a", state: .failed, reason: "x", attempts: 2, began: 1, ended: 5)

  @Test func `A9: changes that a busy journal refuses are stored later, before those that follow`()
    throws
  {
    let journal = Journal()
    let recorder = journal.recorder()
    recorder.note(begun)
    recorder.note(other)
    // The journal is busy while the step runs.
    let request = try journal.request(of: recorder)
    let records = request.records()
    recorder.note(repeated)
    recorder.note(failed)
    #expect(records.sorted { $0.unit < $1.unit } == [begun, other])
    request.onFailure(records)
    #expect(try journal.stored(by: recorder) == [all, other])
    #expect(try journal.stored(by: recorder) == [])
  }

  @Test func `A9: changes after each of several failures are stored in their order`() throws {
    let journal = Journal()
    let recorder = journal.recorder()
    for record in [begun, repeated, failed] {
      recorder.note(record)
      let request = try journal.request(of: recorder)
      request.onFailure(request.records())
    }
    #expect(try journal.stored(by: recorder) == [all])
  }

  @Test func `A9: a step that begins again loses an end that a busy journal has refused`() throws {
    let journal = Journal()
    let recorder = journal.recorder()
    recorder.note(failed)
    let request = try journal.request(of: recorder)
    let records = request.records()
    let again = FlowStepRecord(unit: "a", attempts: 1, began: 7)
    recorder.note(again)
    request.onFailure(records)
    #expect(try journal.stored(by: recorder) == [again])
  }
}
