import CompositeOperations
import DurableOperations
import Foundation
import OperationTracing
import SystemSupport

extension OperationTrace {
  /// The trace of a stored run: its finished steps, what the step in progress has stored, and its child
  /// flows with their steps.
  ///
  /// Only the last attempt of each step has a stored time, so the pauses between steps are
  /// interruptions, waits for a worker, or waits of a parked run. A child flow begins with its first
  /// step.
  ///
  /// If several workers have run the run and its child flows, each has lanes of its own.
  ///
  /// - Parameters:
  ///   - children: The child flows.
  ///   - count: How many of the last steps are shown; nil for all.
  init(_ details: RunDetails, children: [RunDetails] = [], last count: Int? = nil) {
    let run = details.summary
    let all = details.steps.filter { $0.key.isEmpty }
    let finished = Array(all.suffix(count ?? .max))
    let start = finished.count < all.count ? finished.first?.began ?? run.began : run.began
    var timeline = RunTimeline(from: start)
    let whole = timeline.begin(run.id.text, at: start, below: nil)
    let steps = finished + children.flatMap { $0.steps.filter { $0.key.isEmpty } }
    let workers = timeline.begin(workersOf: steps, below: whole)
    for step in finished {
      let above = step.worker.flatMap { workers[$0] } ?? whole
      let span = timeline.begin(step.name, at: step.began, below: above, attempt: step.attempts)
      timeline.end(span, at: step.ended, as: End(step))
    }
    let keys = details.steps.filter { !$0.key.isEmpty }
    if let first = keys.map(\.began).min(), let name = keys.first?.name, !run.state.hasEnded {
      let current = timeline.begin(name, at: first, below: whole)
      timeline.add(keys, below: current)
    }
    timeline.add(children) { child in
      child.steps.last.flatMap(\.worker).flatMap { workers[$0] } ?? whole
    }
    timeline.end(workers, of: steps)
    if let ended = run.ended { timeline.end(whole, at: ended, as: End(run)) }
    self.init(
      beginning: Int64(start.timeIntervalSince1970 * 1_000) * 1_000_000,
      spans: timeline.spans)
  }
}

/// The spans of a stored run.
private struct RunTimeline {
  private(set) var spans: [OperationTrace.Span] = []
  private var lanes = TraceLanes()
  private let beginning: Date

  init(from beginning: Date) { self.beginning = beginning }

  /// - Returns: The index of the span.
  mutating func begin(
    _ name: String, at date: Date, below parent: Int?, attempt: Int = 1
  ) -> Int {
    let id = OperationID()
    let above = parent.map { spans[$0] }
    let lane = lanes.place(.run(id), at: time(date), below: above.map { ($0.id, $0.lane) })
    var span = OperationTrace.Span(
      id: id, parent: above?.id, outermost: above?.outermost, name: name, attempt: attempt,
      created: time(date), lane: lane)
    span.started = time(date)
    spans.append(span)
    return spans.count - 1
  }

  mutating func end(_ index: Int, at date: Date, as end: OperationTrace.End) {
    let span = spans[index]
    spans[index].ended = lanes.leave(.run(span.id), lane: span.lane, at: time(date)).time
    spans[index].end = end
  }

  /// Begins a span for each worker, if there are several. They do not end before all steps are
  /// added, so that each has a lane of its own.
  ///
  /// - Returns: The indices of the spans.
  mutating func begin(workersOf steps: [RunDetails.Step], below parent: Int) -> [String: Int] {
    var first: [String: Date] = [:]
    for step in steps {
      guard let worker = step.worker else { continue }
      first[worker] = min(first[worker] ?? step.began, step.began)
    }
    if first.count < 2 { return [:] }
    let order = first.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
    return Dictionary(
      uniqueKeysWithValues: order.map { ($0.key, begin($0.key, at: $0.value, below: parent)) })
  }

  /// Ends the spans of the workers with their last steps.
  mutating func end(_ workers: [String: Int], of steps: [RunDetails.Step]) {
    for (worker, index) in workers {
      guard let last = steps.filter({ $0.worker == worker }).map(\.ended).max() else { continue }
      end(index, at: last, as: .result)
    }
  }

  /// Adds spans that may overlap, in the order of their events.
  mutating func add(_ steps: [RunDetails.Step], below parent: Int) {
    let order = steps.sorted { ($0.began, $0.ended) < ($1.began, $1.ended) }
    var open: [(index: Int, step: RunDetails.Step)] = []
    for step in order {
      for (index, done) in open where done.ended <= step.began {
        end(index, at: done.ended, as: OperationTrace.End(done))
      }
      open.removeAll { $0.step.ended <= step.began }
      let index = begin(step.key, at: step.began, below: parent, attempt: step.attempts)
      open.append((index, step))
      open.sort { $0.step.ended < $1.step.ended }
    }
    for (index, done) in open { end(index, at: done.ended, as: OperationTrace.End(done)) }
  }

  /// Adds child flows, which may overlap, in the order of their events.
  ///
  /// - Parameter parent: Returns the span above a child flow.
  mutating func add(_ children: [RunDetails], below parent: (RunDetails) -> Int) {
    let parts = children.compactMap { child -> (child: RunDetails, steps: [RunDetails.Step])? in
      let steps = child.steps.filter { $0.key.isEmpty }.sorted { $0.began < $1.began }
      return steps.isEmpty ? nil : (child, steps)
    }
    var open: [(index: Int, child: RunSummary, end: Date)] = []
    func endAll(_ ended: [(index: Int, child: RunSummary, end: Date)]) {
      for part in ended.sorted(by: { $0.end < $1.end }) {
        end(part.index, at: part.end, as: OperationTrace.End(part.child))
      }
    }
    for (child, steps) in parts.sorted(by: { $0.steps[0].began < $1.steps[0].began }) {
      let start = steps[0].began
      endAll(open.filter { $0.end <= start })
      open.removeAll { $0.end <= start }
      let index = begin(child.summary.id.text, at: start, below: parent(child))
      for step in steps {
        let span = begin(step.name, at: step.began, below: index, attempt: step.attempts)
        end(span, at: step.ended, as: OperationTrace.End(step))
      }
      let last = steps.map(\.ended).max() ?? start
      open.append((index, child.summary, max(child.summary.ended ?? last, last)))
    }
    endAll(open)
  }

  private func time(_ date: Date) -> Duration {
    .milliseconds(max(0, Int64((date.timeIntervalSince(beginning) * 1_000).rounded())))
  }
}

extension OperationTrace.End {
  fileprivate init(_ step: RunDetails.Step) {
    self =
      switch step.kind {
      case .result, .attempts, .wake: .result
      case .error: .error(step.value ?? "")
      case .cancelled: .cancelled(reason: nil)
      }
  }

  fileprivate init(_ run: RunSummary) {
    self =
      switch run.state {
      case .error: .error("the run failed")
      case .cancelled: .cancelled(reason: run.reason)
      case .ready, .running, .parked, .stuck, .result: .result
      }
  }
}
