import CompositeOperations

/// An instruction of a random flow.
enum Instruction: Codable, Sendable, Hashable {
  case plain
  case fail
  case cancel
  /// Children with keys, of which the last one may fail.
  case parallel(children: Int, fails: Bool)
  /// An operation that is retried after some failures.
  case retry(failures: Int)
  /// An operation that fails, and whose error is not worth another attempt.
  case retryInVain
  case sleep
  /// Waits for an event that has been sent before. Only the outermost flow has received it.
  case event
  /// A flow of its own.
  case child(Script)
  /// Continues after a failure or cancellation of the instruction before.
  case recover
  /// The sequence throws.
  case throwError
  /// Changes the state between two steps.
  case change
}

/// The instructions of a random flow, and how many steps it keeps.
struct Script: Codable, Sendable, Hashable {
  var instructions: [Instruction]
  /// The limit of the history; nil for all steps.
  var limit: Int?

  init(instructions: [Instruction]) { self.instructions = instructions }

  init(random: inout OperationRandomness, depth: Int = 0) {
    let count = Int.random(in: 1...(depth == 0 ? 8 : 3), using: &random)
    limit = Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0...3, using: &random) : nil
    instructions = []
    for _ in 0..<count { instructions += Self.instructions(&random, depth) }
  }

  private static func instructions(
    _ random: inout OperationRandomness, _ depth: Int
  ) -> [Instruction] {
    switch Int.random(in: 0..<20, using: &random) {
    case 0...3: [.plain]
    case 4...5: [.parallel(children: Int.random(in: 0...3, using: &random), fails: false)]
    case 6: [.parallel(children: Int.random(in: 1...3, using: &random), fails: true), .recover]
    case 7...8: [.retry(failures: Int.random(in: 0...2, using: &random))]
    case 9: [.retryInVain, .recover]
    case 10: [.sleep]
    case 11...12: depth == 0 ? [.event] : [.sleep]
    case 13...14: depth < 2 ? [.child(Script(random: &random, depth: depth + 1))] : [.plain]
    case 15: [.fail, .recover]
    case 16: [.cancel, .recover]
    case 17: [.change]
    case 18: [[.fail], [.cancel], [.throwError]].randomElement(using: &random) ?? []
    default: depth < 2 ? [.child(Script(random: &random, depth: depth + 1)), .recover] : [.change]
    }
  }
}

/// What a flow must do, by the rules alone.
struct Prediction: Hashable {
  enum End: Hashable {
    case result(ScriptOutput)
    /// The last step failed.
    case failure
    /// The sequence threw the error with this number.
    case thrown(Int)
    case cancelled
  }

  /// How often each body runs without a crash, by its idempotency key.
  var effects: [String: Int] = [:]
  var end = End.cancelled

  init(of script: Script, run: String) {
    var (sum, names) = (0, [String]())
    // How the last step ended, if it has no result.
    var failed: End?
    var isRecovered = false
    for instruction in script.instructions {
      if case .recover = instruction {
        isRecovered = true
        continue
      }
      if let failed, !isRecovered {
        end = failed
        return
      }
      isRecovered = false
      let position = names.count
      let last = failed
      failed = nil
      func key(_ name: String) -> String { "\(run.escaped)/\(position).\(name)" }
      switch instruction {
      case .recover: break
      case .change:
        // No step, so the failure before it remains the last one.
        sum = sum * 3 + 1
        (failed, isRecovered) = (last, true)
      case .throwError:
        end = .thrown(sum)
        return
      case .plain:
        effects[key("plain")] = 1
        (sum, names) = (sum + 1, names + ["plain"])
      case .fail:
        effects[key("fail")] = 1
        (failed, names) = (.failure, names + ["fail"])
      case .cancel:
        effects[key("cancel")] = 1
        (failed, names) = (.cancelled, names + ["cancel"])
      case .parallel(let children, let fails):
        for child in 0..<children { effects[key("parallel/\(child)")] = 1 }
        if fails { failed = .failure } else { sum += children }
        names.append("parallel")
      case .retry(let failures):
        effects[key("retry")] = failures + 1
        (sum, names) = (sum + 1, names + ["retry"])
      case .retryInVain:
        effects[key("vain")] = 1
        (failed, names) = (.failure, names + ["vain"])
      case .sleep: names.append("DurableSleep")
      case .event: (sum, names) = (sum + 7, names + ["AwaitedEvent(event)"])
      case .child(let script):
        let child = Prediction(of: script, run: "\(run)/\(position).ScriptFlow")
        effects.merge(child.effects, uniquingKeysWith: +)
        switch child.end {
        case .result(let output): sum += output.sum
        case .failure, .thrown: failed = .failure
        case .cancelled: failed = .cancelled
        }
        names.append("ScriptFlow")
      }
    }
    if let failed {
      end = failed
    } else {
      end = .result(ScriptOutput(sum: sum, names: names.suffix(script.limit ?? .max)))
    }
  }
}
