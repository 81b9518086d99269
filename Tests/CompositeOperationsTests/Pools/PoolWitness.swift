import CompositeOperations

/// The rules that can be checked for a pool that several threads use.
enum PoolWitness {
  static func findings(
    in entries: [PoolTrial.Entry], of trial: PoolTrial, _ ends: [Int: PoolTrial.Ended]
  ) -> [String] {
    var findings: [String] = []
    func expect(_ isRight: Bool, _ rule: String) { if !isRight { findings.append(rule) } }
    var inFlight: Set<Int> = []
    var began: Set<Int> = []
    var left: [Int: PoolTrial.Ended] = [:]
    var widths = [trial.width]
    var mayBeCancelled: Set<Int> = []
    var areAllCancelled = false
    for entry in entries {
      switch entry {
      case .began(let index):
        expect(began.insert(index).inserted, "W1: \(index) ran twice")
        inFlight.insert(index)
        let barriers = inFlight.filter { trial.jobs[$0].isBarrier }
        expect(barriers.isEmpty || inFlight.count == 1, "W4: \(inFlight) run beside a barrier")
        expect(inFlight.count <= widths.max() ?? 0, "W2: \(inFlight) run at once")
      case .left(let index, let end):
        inFlight.remove(index)
        expect(left.updateValue(end, forKey: index) == nil, "W8: \(index) left twice")
      case .width(let width): widths.append(width)
      case .cancelled(let index), .submitterCancelled(let index): mayBeCancelled.insert(index)
      case .allCancelled: areAllCancelled = true
      case .submitted, .returned, .paused, .resumed, .closed, .drainBegan, .drained: break
      }
    }
    expect(inFlight.isEmpty, "W1: \(inFlight) never left")
    for (index, end) in ends {
      let job = trial.jobs[index]
      expect(
        left[index].map { $0 == end } ?? job.isUnwelcome, "W1: the handle of \(index) says \(end)")
      let isAsked = areAllCancelled || mayBeCancelled.contains(index)
      switch end {
      case .value(let value): expect(began.contains(index) && value == index, "W1: \(value)")
      case .error: expect(began.contains(index) && job.end == .error, "W1: \(index) failed")
      case .cancelled:
        expect(isAsked || job.end == .cancellation, "W6: \(index) is cancelled without a reason")
      case .refused: expect(!began.contains(index), "W3: \(index) ran and was refused")
      case .unwelcome: expect(job.isUnwelcome && !began.contains(index), "W8: \(index)")
      }
    }
    return findings
  }
}
