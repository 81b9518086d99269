import CompositeOperations
import DurableOperations
import DurableTestSupport
import Foundation
import SQLiteSupport
import Synchronization
import Testing

/// Runs random flows, simulates crashes at random writes, and compares them with a model.
///
/// A failure shows its seed, which `COMPOSITE_CRASH_SEED=17` runs again, as the first one.
/// `COMPOSITE_CRASHES=1000` runs 10,000 flows.
@Suite struct FlowModelTests {
  /// The flows that share a file.
  private static let batch = 50

  @Test(.timeLimit(.minutes(60)))
  func `J2: random flows with random crashes do exactly what the model predicts`() async throws {
    let seed = CrashSettings.firstSeed()
    let count =
      CrashSettings.crashes.map { $0 * 10 } ?? CrashSettings.count(debug: 200, release: 1_000)
    print("random flows: COMPOSITE_CRASH_SEED=\(seed)")
    let batches = stride(from: 0, to: count, by: Self.batch).map { start in
      SimpleOperation {
        let folder = try CrashFolder()
        for offset in start..<min(start + Self.batch, count) {
          let problems = try await FlowCase(seed: seed &+ UInt64(offset), in: folder).problems()
          #expect(problems == [], "COMPOSITE_CRASH_SEED=\(seed &+ UInt64(offset))")
        }
      }
    }
    _ = try await ParallelOperation(batches, width: .limited(to: 4)).run().get()
  }
}

/// A random flow with random crashes.
private struct FlowCase {
  private let name: String
  private let file: String
  private let script: Script
  private let disturbances: [StoreDisturbance]

  init(seed: UInt64, in folder: CrashFolder) {
    var random = OperationRandomness.seeded(seed)
    name = "run-\(seed)"
    file = folder.journal
    script = Script(random: &random)
    disturbances = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      StoreDisturbance(random: &random)
    }
  }

  private enum LaunchEnd {
    case ended(Prediction.End)
    case failed(RunStoreError)
  }

  /// Runs the flow to its end, in as many simulated processes as necessary.
  ///
  /// - Returns: What the model does not allow.
  func problems() async throws -> [String] {
    let recorder = EffectRecorder()
    let prediction = Prediction(of: script, run: name)
    let predicted = prediction.effects.flatMap { key, count in
      Array(repeating: EffectLine(launch: 0, key: key, fence: 0), count: count)
    }
    var check = EffectCheck(undisturbed: predicted)
    // Each launch is ten seconds later: no run has to wait after a failure of its store.
    let now: @Sendable () -> Date = { Date() + 10 * Double(recorder.launchCount) }
    var store = DisturbedStore(file, now: now)
    for disturbance in disturbances.map(Optional.init) + [nil] {
      recorder.beginLaunch()
      store.gate.begin(disturbance)
      let end = try await EffectRecorder.$current.withValue(recorder) {
        try await launch(in: store.store)
      }
      store.gate.begin(nil)
      switch end {
      case .failed(let error):
        // A process that has stopped is replaced; one with a full disk continues later.
        if error.reason == .closed { store = DisturbedStore(file, now: now) }
        check.processEnded(try await store.store.allRuns, effects: recorder.effects)
      case .ended(let end):
        var problems = check.problems(recorder.effects)
        if end != prediction.end { problems.append("ends in \(end), not in \(prediction.end)") }
        problems += try await store.store.check()
        try await store.store.forget(RunID(name))
        return problems.isEmpty ? [] : problems + ["\(script)", "\(disturbances)"]
      }
    }
    return ["the store has failed without a disturbance"]
  }

  /// Starts or resumes the run, as a process does.
  private func launch(in store: RunStore) async throws -> LaunchEnd {
    let (flow, id) = (ScriptFlow(script), RunID(name))
    do {
      try await store.start(flow, named: id)
      try await store.send(7, as: "event", to: id)
    } catch let error as RunStoreError where error.reason != .wrongState {
      return .failed(error)
    } catch is RunStoreError {
      // It has ended.
    }
    switch await DurableOperation(flow, named: id, in: store).run() {
    case .result(let output): return .ended(.result(output))
    case .cancelled: return .ended(.cancelled)
    case .error(let error as RunStoreError): return .failed(error)
    case .error(let error as SequentialOperationError):
      return .ended((error.cause as? ThrownError).map { .thrown($0.number) } ?? .failure)
    case .error(let error): throw error
    }
  }
}
