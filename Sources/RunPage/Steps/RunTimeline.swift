import CompositeOperations
package import DurableOperations
import FlowFiles
import Foundation
package import OperationTracing
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
  package init(_ details: RunDetails, children: [RunDetails] = [], last count: Int? = nil) {
    let run = details.summary
    let all = details.steps.filter { $0.key.isEmpty }
    let finished = Array(all.suffix(count ?? .max))
    let start = finished.count < all.count ? finished.first?.began ?? run.began : run.began
    var timeline = RunTimeline(from: start)
    let whole = timeline.begin(run.id.text, at: start, below: nil)
    let steps = finished + children.flatMap { $0.steps.filter { $0.key.isEmpty } }
    let workers = timeline.begin(workersOf: steps, below: whole)
    for step in finished {
      timeline.add([RunTimeline.Bar(step)], below: step.worker.flatMap { workers[$0] } ?? whole)
    }
    let keys = details.steps.filter { !$0.key.isEmpty }
    if let first = keys.map(\.began).min(), let name = keys.first?.name, !run.state.hasEnded {
      let current = timeline.begin(name, at: first, below: whole)
      timeline.add(keys.map { RunTimeline.Bar($0) }, below: current)
    }
    timeline.add(children) { child in
      child.steps.last.flatMap(\.worker).flatMap { workers[$0] } ?? whole
    }
    timeline.end(workers, of: steps)
    if let ended = run.ended { timeline.end(whole, at: ended, as: End(run)) }
    self.init(timeline)
  }

  /// The trace of a run of a flow file: the steps that have begun.
  ///
  /// A step is shown from the beginning of its first attempt, so the pause before it is a wait for
  /// other steps, a slot or a lock. Steps that are in progress reach until now.
  init(_ steps: [FlowStepView], of run: RunSummary, at now: Date) {
    let isLive = run.state == .running
    let last = isLive ? now : run.ended ?? run.updated
    let bars = steps.compactMap { RunTimeline.Bar($0, until: last) }
    let start = bars.map(\.began).min().map { min($0, run.began) } ?? run.began
    var timeline = RunTimeline(from: start)
    let whole = timeline.begin(run.id.text, at: start, below: nil)
    timeline.add(bars, below: whole)
    let end = run.ended ?? bars.map(\.ended).max() ?? start
    timeline.end(whole, at: end, as: run.ended == nil ? nil : End(run))
    self.init(timeline)
  }

  private init(_ timeline: RunTimeline) {
    self.init(
      beginning: Int64(timeline.beginning.timeIntervalSince1970 * 1_000) * 1_000_000,
      spans: timeline.spans)
  }
}

/// The spans of a stored run.
private struct RunTimeline {
  /// A step, a part of one, or a step of a flow file.
  struct Bar {
    let name: String
    let attempts: Int
    let began: Date
    let ended: Date
    /// Nil if it has not ended.
    let end: OperationTrace.End?

    init(_ step: RunDetails.Step) {
      name = step.key.isEmpty ? step.name : step.key
      (attempts, began, ended) = (step.attempts, step.began, step.ended)
      end = OperationTrace.End(step)
    }

    /// Nil if the step has not begun.
    ///
    /// - Parameter now: The end of a step that has not ended.
    init?(_ step: FlowStepView, until now: Date) {
      guard let began = step.began else { return nil }
      name = step.name
      attempts = max(1, step.attempts ?? 1)
      self.began = began
      ended = max(began, step.ended ?? now)
      end = step.ended == nil ? nil : OperationTrace.End(step)
    }
  }

  private(set) var spans: [OperationTrace.Span] = []
  private var lanes = TraceLanes()
  let beginning: Date

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

  /// - Parameter end: Nil for a part that has not ended: it reaches until the date.
  mutating func end(_ index: Int, at date: Date, as end: OperationTrace.End?) {
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

  /// Adds bars that may overlap, in the order of their events.
  mutating func add(_ bars: [Bar], below parent: Int) {
    let order = bars.sorted { ($0.began, $0.ended) < ($1.began, $1.ended) }
    var open: [(index: Int, bar: Bar)] = []
    for bar in order {
      for (index, done) in open where done.ended <= bar.began {
        end(index, at: done.ended, as: done.end)
      }
      open.removeAll { $0.bar.ended <= bar.began }
      let index = begin(bar.name, at: bar.began, below: parent, attempt: bar.attempts)
      open.append((index, bar))
      open.sort { $0.bar.ended < $1.bar.ended }
    }
    for (index, done) in open { end(index, at: done.ended, as: done.end) }
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
      for step in steps { add([Bar(step)], below: index) }
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

  fileprivate init(_ step: FlowStepView) {
    self =
      switch step.state {
      case .failed: .error(step.reason ?? "")
      case .cancelled, .skipped: .cancelled(reason: step.reason)
      case .interrupted, .running, .ready, .waiting, .notRun, .succeeded, .upToDate, .notSelected:
        .result
      }
  }

  fileprivate init(_ run: RunSummary) {
    self =
      switch run.state {
      case .error: .error("the run failed")
      case .cancelled: .cancelled(reason: run.reason)
      case .ready, .running, .interrupted, .parked, .stuck, .result: .result
      }
  }
}
