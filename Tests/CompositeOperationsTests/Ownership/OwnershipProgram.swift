import CompositeOperations
import CompositeOperationsTestKit

/// A random program of composites, modifiers, sequences and graphs whose leaves open tokens, and how
/// it is run.
///
/// A composite of the engine combines values without code of the program; the others receive them.
final class OwnershipProgram {
  private let ledger: Ledger
  private var chance: Chance
  private var lines: [String] = []

  init(seed: UInt64, _ ledger: Ledger) {
    chance = Chance(seed: seed)
    self.ledger = ledger
  }

  /// What was built, the innermost parts first.
  var description: String { lines.joined(separator: "\n") }

  private func note(_ line: String) { lines.append(line) }

  // MARK: Tokens

  /// An operation that opens a token, or passes on one of several.
  func token(_ depth: Int) -> AnyOperation<Token> {
    let ledger = ledger
    if depth == 0 { return leaf() }
    switch chance.number(0...17) {
    case 0:
      note("race")
      return AnyOperation(RaceOperation(tokens(depth - 1, chance.number(1...3))))
    case 1:
      note("retrying")
      return AnyOperation(token(depth - 1).retrying(attempts: 3))
    case 2:
      note("recovering")
      return AnyOperation(
        token(depth - 1).recovering { error in
          ledger.receive(error, as: "recovering")
          return ledger.open()
        }.discarding { ledger.discard($0) })
    case 3:
      note("ignoringErrors")
      return AnyOperation(token(depth - 1).ignoringErrors(with: .untracked))
    case 4:
      note("fallingBack")
      return AnyOperation(token(depth - 1).fallingBack(to: token(depth - 1)))
    case 5:
      note("finally")
      let turns = chance.number(0...2)
      return AnyOperation(
        token(depth - 1).finally { _ in
          for _ in 0..<turns { await Task.yield() }
        })
    case 6:
      note("timingOut")
      return AnyOperation(
        token(depth - 1).timingOut(after: .seconds(chance.number(1...20))))
    case 7:
      note("timingOut, abandoning")
      return AnyOperation(
        token(depth - 1).timingOut(after: .seconds(chance.number(1...20)), .abandoning))
    case 8:
      let isMet = chance.percent(60)
      note("requiring \(isMet)")
      return AnyOperation(token(depth - 1).requiring(Condition("c") { isMet }))
    case 9:
      note("named, prioritized, delayed")
      return AnyOperation(
        token(depth - 1).prioritized(at: .high).named("n").delayed(by: .seconds(1)))
    case 10: return map(composite(depth - 1))
    case 11: return then(composite(depth - 1), token(depth - 1))
    case 12: return body(composite(depth - 1))
    case 13:
      note("graph of one output")
      let (first, second) = (token(depth - 1), token(depth - 1))
      let third = token(depth - 1)
      return AnyOperation(
        OperationGraph(onFailure: mode()) { graph in
          let input = graph.add(first)
          graph.add(second)
          return graph.add(needing: input) { token in
            ledger.receive(token, as: "graph")
            return third
          }
        })
    case 14:
      note("sequence with an output")
      return AnyOperation(
        SequentialOperation(Chosen(steps: steps(depth - 1), history: history(), ledger: ledger))
          .discarding { ledger.discard($0) })
    case 15:
      let isLate = chance.percent(50)
      let (base, resource) = (token(depth - 1), token(depth - 1))
      note("using")
      // The release is the one discard of the resource.
      return AnyOperation(
        using(
          resource,
          release: { token in
            if isLate { await Task.yield() }
            ledger.discard(token)
          }
        ) { _ in base })
    case 16:
      note("hedged")
      let delay = Duration.seconds(chance.number(0...3))
      return AnyOperation(
        token(depth - 1).hedged(after: delay, attempts: chance.number(1...3)))
    default:
      note("permits, weight")
      return AnyOperation(token(depth - 1).limited(by: Permits(1)).weighing(2))
    }
  }

  private func tokens(_ depth: Int, _ count: Int) -> [AnyOperation<Token>] {
    (0..<count).map { _ in token(depth) }
  }

  private func leaf() -> AnyOperation<Token> {
    let (before, after) = (chance.number(0...3), chance.number(0...2))
    let end = chance.pick([(70, 0), (15, 1), (10, 2), (5, 3)])
    note("leaf \(end)")
    let ledger = ledger
    return AnyOperation(
      SimpleOperation {
        for _ in 0..<before { await Task.yield() }
        switch end {
        case 1: throw TestError("failed")
        case 2: throw CancellationError()
        default: break
        }
        let token = ledger.open()
        for _ in 0..<after { await Task.yield() }
        if end == 3 { cancelCurrentTask() }
        return token
      }.discarding { ledger.discard($0) })
  }

  // MARK: Code that receives

  private func map(_ base: some ComposableOperation) -> AnyOperation<Token> {
    note("map")
    let ledger = ledger
    return AnyOperation(
      base.map { value in
        ledger.receive(value, as: "map")
        return ledger.open()
      }.discarding { ledger.discard($0) })
  }

  private func then(
    _ base: some ComposableOperation, _ next: AnyOperation<Token>
  ) -> AnyOperation<Token> {
    note("then")
    let ledger = ledger
    return AnyOperation(
      base.then { value in
        let _: Void = ledger.receive(value, as: "then")
        next
      })
  }

  private func body(_ base: some ComposableOperation) -> AnyOperation<Token> {
    note("body")
    let ledger = ledger
    return AnyOperation(
      SimpleOperation.withContext { context in
        switch await context.outcome(of: base) {
        case .result(let value): ledger.receive(value, as: "body")
        case .error(let error): ledger.receive(error, as: "body")
        case .cancelled: throw CancellationError()
        }
        return ledger.open()
      }.discarding { ledger.discard($0) })
  }

  // MARK: Composites

  private func mode() -> FailureMode { chance.percent(50) ? .runAll : .cancelRemaining }

  private func history() -> StepHistory {
    chance.pick([(2, .all), (1, .none), (1, .last(1)), (1, .last(2))])
  }

  private func steps(_ depth: Int) -> [any ComposableOperation] {
    (0..<chance.number(1...3)).map { _ in composite(depth) }
  }

  /// An operation with a result of any type.
  func composite(_ depth: Int) -> any ComposableOperation {
    let ledger = ledger
    if depth == 0 { return leaf() }
    let width: OperationWidth = chance.pick([(2, .adaptive), (1, .serial), (1, .limited(to: 2))])
    switch chance.number(0...11) {
    case 0, 1:
      note("list")
      return ParallelOperation(
        tokens(depth - 1, chance.number(0...4)), width: width, onFailure: mode())
    case 2:
      note("list of outcomes")
      return ParallelOperation(tokens(depth - 1, chance.number(0...4)), width: width)
        .collectingOutcomes()
    case 3:
      note("lazy list")
      let children = tokens(depth - 1, chance.number(0...4))
      return ParallelOperation(width: width, onFailure: mode()) { children }
    case 4:
      note("consumed list")
      let children = tokens(depth - 1, chance.number(0...4))
      let throwing = chance.percent(20)
      return ParallelOperation(width: width) {
        children
      } consumingResults: { token in
        ledger.receive(token, as: "consumer")
        if throwing { throw TestError("consumer") }
      }
    case 5: return pair(composite(depth - 1), composite(depth - 1))
    case 6:
      note("linear")
      return SequentialOperation(.linear(steps(depth - 1)))
    case 7:
      let steps = steps(depth - 1)
      note("built of \(steps.count)")
      return SequentialOperation(built(steps))
    case 8, 9:
      let (steps, throwsAt) = (steps(depth - 1), chance.maybe(20) { $0.number(0...2) })
      let recovers = chance.percent(50)
      let history = history()
      note("sequence of \(steps.count), throws at \(throwsAt ?? -1), \(recovers), \(history)")
      return SequentialOperation(
        ClosureSequence(state: 0, history: history) { index, previous in
          let isOver = index == steps.count || (previous?.error != nil && !recovers)
          // An error that it passes on takes its values with it.
          if let error = previous?.error {
            if index == throwsAt { throw error }
            if isOver { return nil }
          }
          if let previous { ledger.receive(previous, as: "sequence") }
          if index == throwsAt { throw TestError("sequence") }
          if isOver { return nil }
          index += 1
          return steps[index - 1]
        })
    case 10:
      note("graph")
      let (nodes, isAsked) = (tokens(depth - 1, 4), chance.percent(50))
      let mode = mode()
      return OperationGraph(width: width, onFailure: mode) { graph in
        let (first, second) = (graph.add(nodes[0]), graph.add(nodes[1]))
        let third = graph.add(needing: first.outcome) { outcome in
          ledger.receive(outcome, as: "graph, outcome")
          return nodes[2]
        }
        let fourth = graph.add(needing: third, second) { third, second in
          ledger.receive([third, second], as: "graph, two")
          return nodes[3]
        }
        if isAsked {
          // If the fourth could not begin, its outcome is the error of another node.
          graph.add(needing: fourth.outcome) { outcome in
            ledger.receive(outcome, as: "graph, outcome of the fourth")
            return SimpleOperation {}
          }
        }
        return (first.outcome, second.outcome, fourth.outcome)
      }
    default: return token(depth)
    }
  }

  private func pair(
    _ first: some ComposableOperation, _ second: some ComposableOperation
  ) -> any ComposableOperation {
    note("pair")
    return chance.percent(70)
      ? ParallelOperation(first, second, onFailure: mode())
      : ParallelOperation(collectingOutcomesOf: first, second)
  }

  private func built(_ steps: [any ComposableOperation]) -> LinearSequence {
    let builders: [LinearSequence.Builder] = steps.map { [ledger] step in
      { previous in
        if let previous { ledger.receive(previous, as: "builder") }
        return step
      }
    }
    switch builders.count {
    case 1: return LinearSequence(builders[0])
    case 2: return LinearSequence(builders[0], builders[1])
    default: return LinearSequence(builders[0], builders[1], builders[2])
    }
  }
}

/// A sequence that makes the result of the composite, of which it keeps nothing.
private struct Chosen: OperationSequence {
  let steps: [any ComposableOperation]
  let history: StepHistory
  let ledger: Ledger
  private var begun = 0

  init(steps: [any ComposableOperation], history: StepHistory, ledger: Ledger) {
    self.steps = steps
    self.history = history
    self.ledger = ledger
  }

  mutating func nextOperation(after previous: FinishedStep?) -> (any ComposableOperation)? {
    let isOver = begun == steps.count
    if isOver, previous?.error != nil { return nil }
    if let previous { ledger.receive(previous, as: "sequence with an output") }
    if isOver { return nil }
    begun += 1
    return steps[begun - 1]
  }

  func output(of steps: FinishedSteps) -> Token { ledger.open() }
}
