internal import CompositeOperations
internal import SystemSupport

extension OperationCounters {
  /// The counts, and the runs that have not ended.
  struct StateMachine: Sendable {
    private struct Run: Sendable {
      let index: Int
      /// Whether the run counts. The run of a modifier does not if its operation has the same name.
      let counts: Bool
      let created: EventTime
      var waits: [OperationCounts.Wait] = []
    }

    private let bounds: [Double]
    /// The bounds in nanoseconds.
    private let limits: [Int64]
    private let nameLimit: Int
    private var indices: [String: Int] = [:]
    private(set) var counts: [OperationCounts] = []
    private var runs: [OperationID: Run] = [:]

    init(bounds: [Double], nameLimit: Int) {
      self.bounds = bounds
      limits = bounds.map { Int64(($0 * 1e9).rounded()) }
      self.nameLimit = nameLimit
    }

    mutating func observed(_ event: OperationEvent) {
      switch event.kind {
      case .created:
        let index = index(of: event.name)
        let isCounted = !event.place.share.isOfModifier
        runs[event.id] = Run(index: index, counts: isCounted, created: event.time)
        if isCounted { counts[index].begun += 1 }
      case .waitingBegan(let wait):
        guard let index = runs[event.id]?.index else { return }
        let wait = OperationCounts.Wait(wait)
        runs[event.id]?.waits.append(wait)
        counts[index].waiting[wait, default: 0] += 1
      case .waitingEnded(let wait): endWait(OperationCounts.Wait(wait), of: event.id)
      case .retryScheduled:
        guard let index = runs[event.id]?.index else { return }
        counts[index].retries += 1
      case .ended(let outcome, _): end(event, outcome)
      case .started, .childStarted, .progressed, .childrenExpected, .attributesSet, .logged,
        .cancellationRequested, .finishedAgain, .abandonedBodyEnded:
        break
      }
    }

    private mutating func index(of name: String) -> Int {
      if let index = indices[name] { return index }
      if indices.count >= nameLimit, name != OperationCounters.otherName {
        return index(of: OperationCounters.otherName)
      }
      indices[name] = counts.count
      counts.append(OperationCounts(name: name, bounds: bounds))
      return counts.count - 1
    }

    private mutating func endWait(_ wait: OperationCounts.Wait, of id: OperationID) {
      guard let run = runs[id], let place = run.waits.lastIndex(of: wait) else { return }
      runs[id]?.waits.remove(at: place)
      counts[run.index].waiting[wait, default: 0] -= 1
    }

    private mutating func end(_ event: OperationEvent, _ outcome: Outcome<any Sendable>) {
      guard let run = runs.removeValue(forKey: event.id) else { return }
      for wait in run.waits { counts[run.index].waiting[wait, default: 0] -= 1 }
      if !run.counts { return }
      switch outcome {
      case .result: counts[run.index].results += 1
      case .error: counts[run.index].errors += 1
      case .cancelled: counts[run.index].cancellations += 1
      }
      let nanoseconds = event.time.nanoseconds - run.created.nanoseconds
      counts[run.index].durations.counts[bucket(of: nanoseconds)] += 1
      counts[run.index].durations.sum += .nanoseconds(nanoseconds)
    }

    /// Returns the index of the first bound that is not below a duration.
    private func bucket(of nanoseconds: Int64) -> Int {
      var places = 0..<limits.count
      while !places.isEmpty {
        let middle = places.lowerBound + places.count / 2
        if limits[middle] < nanoseconds {
          places = (middle + 1)..<places.upperBound
        } else {
          places = places.lowerBound..<middle
        }
      }
      return places.lowerBound
    }
  }
}
