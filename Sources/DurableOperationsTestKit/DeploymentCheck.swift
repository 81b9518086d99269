internal import CompositeOperations
public import DurableOperations

/// A check whether today's program would decide as yesterday's program did.
///
/// The check decodes the state before each finished step of the runs in a journal, asks today's flow
/// for the next operation, and compares its name and its types with the step in the journal. A
/// difference is no error in itself, because open runs continue with the new program. It shows
/// where the new program decides differently.
///
/// ```swift
/// import DurableOperations
/// import DurableOperationsTestKit
///
/// let check = DeploymentCheck(of: [Fulfilment.self])
/// let differences = try await check.differences(in: .sqlite("copy-of-flows.sqlite"))
/// #expect(differences.isEmpty, "\(differences)")
/// ```
///
/// The check runs no operation and writes nothing. The functions of the flows are called.
public struct DeploymentCheck: Sendable {
  private let checks: [FlowCheck]
  private let states: Set<RunState>

  /// Creates a check.
  ///
  /// - Parameters:
  ///   - flows: The flows of today's program.
  ///   - states: The states of the runs to check; empty for all. By default those that have not
  ///     ended.
  public init(
    of flows: [any DurableSequence.Type],
    in states: Set<RunState> = Set(RunState.allCases.filter { !$0.hasEnded })
  ) {
    func check<Flow: DurableSequence>(_ flow: Flow.Type) -> FlowCheck { FlowCheck(flow) }
    checks = flows.map { check($0) }
    self.states = states
  }

  /// Returns the differences, run by run in the order of their steps.
  ///
  /// - Parameter store: The journal.
  /// - Throws: A `RunStoreError`.
  public func differences(in store: RunStore) async throws -> [DeploymentDifference] {
    let backend = store.backend
    var differences: [DeploymentDifference] = []
    for check in checks {
      var selection = RunSelection(
        flows: backend.options.names(ofFlow: check.name),
        states: RunState.allCases.filter(states.contains), limit: 1_000)
      while true {
        let runs = try await backend.runs(selection)
        for run in runs {
          let steps = try await backend.steps(of: run.id, last: nil)
          differences += await check.differences(run, steps, backend.options)
        }
        guard let last = runs.last, runs.count == selection.limit else { break }
        selection.after = (last.began, last.id)
      }
    }
    return differences
  }
}

/// A step that today's program would decide differently.
public struct DeploymentDifference: Hashable, Sendable, CustomStringConvertible {
  /// The name of the run.
  public let run: RunID
  /// The name of the flow.
  public let flow: String
  /// The position of the step, from 0.
  public let step: Int
  /// The difference.
  public let problem: String

  public var description: String { "run \(run) of \(flow), step \(step): \(problem)" }
}

/// The check of one flow.
private struct FlowCheck: Sendable {
  let name: String
  private let problem:
    @Sendable (_ state: String, StoredStep?, StoredStep?, RunStoreOptions) async -> String?

  init<Flow: DurableSequence>(_ flow: Flow.Type) {
    name = Flow.flowName
    problem = { state, previous, stored, options in
      await Self.problem(of: flow, state, after: previous, stored, options)
    }
  }

  func differences(
    _ run: StoredRun, _ steps: [StoredStep], _ options: RunStoreOptions
  ) async -> [DeploymentDifference] {
    var differences: [DeploymentDifference] = []
    var state = run.initial
    var previous: StoredStep?
    // The step after the last one has not been stored, but its state must be decodable.
    for stored in steps.map(Optional.some) + [nil] {
      let position = stored?.position ?? (previous.map { $0.position + 1 } ?? 0)
      // A limited history does not keep the state before its oldest step.
      if position == 0 || previous != nil,
        let problem = await problem(state, previous, stored, options)
      {
        differences.append(
          DeploymentDifference(run: run.id, flow: name, step: position, problem: problem))
      }
      state = stored?.sequence ?? state
      previous = stored ?? previous
    }
    return differences
  }

  /// What is different in a step; nil if nothing is.
  private static func problem<Flow: DurableSequence>(
    of flow: Flow.Type, _ state: String, after previous: StoredStep?, _ stored: StoredStep?,
    _ options: RunStoreOptions
  ) async -> String? {
    var sequence: Flow
    do { sequence = try options.coder.decode(Flow.self, from: state) } catch {
      return "the state before it cannot be decoded as \(Flow.self): \(error)"
    }
    let step: FinishedStep?
    do { step = try previous?.finishedStep(options) } catch {
      return "the step before it cannot be decoded: \(error)"
    }
    let operation: (any ComposableOperation)?
    do { operation = try await sequence.nextOperation(after: step) } catch {
      guard let stored else { return nil }
      return "the flow throws \(error), and the journal has \(stored.name)"
    }
    if let failure = step?.journalFailure {
      return "the result of the step before it cannot be decoded: \(failure)"
    }
    guard let stored else { return nil }
    guard let operation else { return "the flow ends, and the journal has \(stored.name)" }
    if !options.isStep(stored.name, named: operation.operationName) {
      return "the flow returns \(operation.operationName), and the journal has \(stored.name)"
    }
    let types = StepTypes(anyOf: operation)
    let former = options.current(stored.types)
    if types != former {
      return "the type is \(types.summary), and the journal has \(former.summary)"
    }
    return nil
  }
}

extension StepTypes {
  fileprivate init(anyOf operation: any ComposableOperation) { self.init(of: operation) }

  fileprivate var summary: String { "\(operations.first ?? "?") with the result \(success)" }
}
