internal import CompositeOperations
internal import SystemSupport

/// The data of a timeline page as JSON: one column for each property, which keeps it short.
///
/// Times are in nanoseconds since the start of the trace, and -1 means none. Runs are identified by
/// their indices.
struct TimelineData {
  private var names = TextTable(longest: 300)
  private var texts = TextTable(longest: 4_000)
  /// The number of each run's name.
  private var runNames: [Int] = []
  /// The outcome of each run, as one letter.
  private var ends = ""
  /// Pairs of a run and its attempt, for all but first attempts.
  private var attempts: [Int] = []
  /// Pairs of a run and the text of its error or of the reason of its cancellation.
  private var reasons: [Int] = []
  /// Groups of a run, what it waited for, and the start and end of the wait.
  private var waits: [Int64] = []
  /// Groups of a run, the name of an attribute, and its value.
  private var attributes: [Int] = []
  /// Groups of a run, a time, the level of a log line, and a text.
  private var notes: [Int64] = []

  /// - Complexity: O(*n* log *n*).
  static func json(of trace: OperationTrace, title: String) -> String {
    var data = TimelineData()
    for (place, span) in trace.spans.enumerated() { data.add(span, at: place) }
    let tree = TraceTree(trace)
    let summary = OperationTrace.Summary(of: trace, tree: tree, buckets: 1_000)
    var json = JSONWriter(escaping: .script)
    json.object { json in
      json.member("title", title)
      json.member("beginning", trace.beginning / 1_000_000)
      json.member("from", tree.created.min() ?? 0)
      json.member("to", tree.end)
      json.member("created", tree.created)
      json.member("started", trace.spans.map { $0.started?.inNanoseconds ?? -1 })
      json.member("ended", tree.ended)
      json.member("ids", trace.spans.map(\.id.number))
      json.member("parents", tree.parents.map { $0 ?? -1 })
      data.addRuns(to: &json)
      let rows = TimelineRows(trace.spans, tree)
      json.member("rows", rows.rows)
      json.member("lanes", rows.lanes)
      data.add(summary, to: &json)
      json.member("names", data.names.texts)
      json.member("texts", data.texts.texts)
    }
    return json.text
  }

  private mutating func add(_ span: OperationTrace.Span, at place: Int) {
    runNames.append(names.number(of: span.name))
    if span.attempt > 1 { attempts += [place, span.attempt] }
    switch span.end {
    case .result: ends += "r"
    case .error(let text):
      ends += "e"
      reasons += [place, texts.number(of: text)]
    case .cancelled(let reason):
      ends += "c"
      if let reason { reasons += [place, texts.number(of: reason)] }
    case nil: ends += "u"
    }
    for wait in span.waits {
      let kind = Int64(texts.number(of: "\(wait.kind)"))
      waits += [
        Int64(place), kind, wait.began.inNanoseconds, wait.ended?.inNanoseconds ?? -1,
      ]
    }
    for (name, value) in span.attributes.sortedByName {
      attributes += [place, texts.number(of: name), texts.number(of: "\(value)")]
    }
    for note in span.notes {
      let level = Int64(note.level?.rawValue ?? -1)
      notes += [
        Int64(place), note.time.inNanoseconds, level, Int64(texts.number(of: note.text)),
      ]
    }
  }

  private func addRuns(to json: inout JSONWriter) {
    json.member("runNames", runNames)
    json.member("ends", ends)
    json.member("attempts", attempts)
    json.member("reasons", reasons)
    json.member("waits", waits)
    json.member("attributes", attributes)
    json.member("notes", notes)
  }

  private mutating func add(_ summary: OperationTrace.Summary, to json: inout JSONWriter) {
    json.member("levels", OperationLogLevel.allCases.map(\.description))
    json.member(
      "path",
      summary.criticalPath.flatMap { stretch in
        [Int64(stretch.place), stretch.began.inNanoseconds, stretch.ended.inNanoseconds]
      })
    json.member("longestRuns", summary.longestRuns.map(\.place))
    json.member(
      "longestWaits",
      summary.longestWaits.flatMap { wait in
        let kind = wait.kind.map { texts.number(of: "\($0)") } ?? -1
        return [Int64(wait.place), Int64(kind), wait.duration.inNanoseconds]
      })
    json.member("bucket", summary.concurrency.bucketDuration.inNanoseconds)
    json.member("concurrency", summary.concurrency.buckets.map { $0.average.toHundredths })
    json.member("average", [summary.concurrency.average.toHundredths])
    json.member("most", summary.concurrency.most)
    json.member("leaves", summary.leafCount)
    json.member("retries", summary.retryCount)
    json.member("dropped", summary.droppedCount)
    json.member("wall", summary.wallTime.inNanoseconds)
    json.member("busy", summary.busyTime.inNanoseconds)
    json.member("waited", summary.waitTime.inNanoseconds)
    json.member(
      "pathWaited", summary.criticalPath.reduce(.zero) { $0 + $1.waited }.inNanoseconds)
  }
}

extension Double {
  fileprivate var toHundredths: Double { (self * 100).rounded() / 100 }
}
