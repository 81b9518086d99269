internal import SystemSupport

extension OperationTrace.Summary: CustomStringConvertible {
  /// The summary as a page of text, in columns.
  ///
  /// ```text
  /// 14 runs, 11 of them leaves: 12 results, 1 error, 1 cancelled; 2 were retries
  /// wall 1.24 s   busy 2.10 s   waited 820 ms in leaves   concurrency 1.7 on average, 4 at most
  ///
  /// Concurrency over time
  ///   ▁▂▅███▇▅··▂▁
  ///
  /// Critical path, 3 stretches
  ///   began     length    waited
  ///     0 ns    120 ms             FetchUser
  ///   120 ms    900 ms    400 ms   FetchIssues
  /// ```
  public var description: String {
    guard runCount > 0 else { return "nothing ran\n" + dropped }
    var parts = [heading, times]
    if !buckets.isEmpty { parts.append("\nConcurrency over time\n  \(buckets)\n") }
    if !criticalPath.isEmpty {
      let shown = mostOfCriticalPath
      let which =
        shown.count < criticalPath.count
        ? "the \(shown.count) longest of \(criticalPath.count)" : "\(shown.count)"
      parts.append("\nCritical path, \(which) stretch\(criticalPath.count == 1 ? "" : "es")\n")
      parts.append(table(of: shown))
    }
    if !longestWaits.isEmpty {
      parts.append("\nLongest waits\n")
      parts.append(
        table(
          ["began", "length"],
          longestWaits.map { wait in
            let what = wait.kind.map { "\($0)".clippedLine(to: 60) } ?? "its start"
            return ([wait.began, wait.duration], "\(wait.name.clippedLine(to: 60))  for \(what)")
          }))
    }
    if !longestRuns.isEmpty { parts.append("\nLongest runs\n" + table(of: longestRuns)) }
    return parts.joined() + dropped
  }

  /// The 20 longest stretches, in chronological order.
  private var mostOfCriticalPath: [Stretch] {
    var longest = Longest<Int>(20)
    for (index, stretch) in criticalPath.enumerated() {
      longest.add(index, length: stretch.duration.inNanoseconds)
    }
    return longest.elements.sorted().map { criticalPath[$0] }
  }

  private var heading: String {
    var ends = ["\(resultCount) result\(resultCount == 1 ? "" : "s")"]
    if errorCount > 0 { ends.append("\(errorCount) error\(errorCount == 1 ? "" : "s")") }
    if cancelledCount > 0 { ends.append("\(cancelledCount) cancelled") }
    if unfinishedCount > 0 { ends.append("\(unfinishedCount) not ended") }
    var line = "\(runCount) run\(runCount == 1 ? "" : "s"), "
    line += "\(leafCount) of them \(leafCount == 1 ? "a leaf" : "leaves"): "
    line += ends.joined(separator: ", ")
    if retryCount > 0 {
      line += "; \(retryCount) \(retryCount == 1 ? "was a retry" : "were retries")"
    }
    return line + "\n"
  }

  private var times: String {
    let tenths = Int(concurrency.average * 10)
    return
      "wall \(wallTime.readable)   busy \(busyTime.readable)   waited \(waitTime.readable) in leaves   "
      + "concurrency \(tenths / 10).\(tenths % 10) on average, \(concurrency.most) at most\n"
  }

  private var dropped: String {
    droppedCount > 0 ? "\n\(droppedCount) events were dropped\n" : ""
  }

  /// The concurrency in a line of at most 60 blocks; a dot means that no leaf run was running.
  private var buckets: String {
    let all = concurrency.buckets
    guard concurrency.most > 0 else { return "" }
    let share = max(1, (all.count + 59) / 60)
    let blocks = Array("▁▂▃▄▅▆▇█")
    return String(
      stride(from: 0, to: all.count, by: share).map { start in
        let part = all[start..<min(start + share, all.count)]
        let average = part.reduce(0) { $0 + $1.average } / Double(part.count)
        guard average > 0 else { return "·" }
        let height = Int(average / Double(concurrency.most) * 8)
        return blocks[min(max(height, 0), 7)]
      })
  }

  private func table(of stretches: [Stretch]) -> String {
    table(
      ["began", "length", "waited"],
      stretches.map { stretch in
        let name = stretch.name.clippedLine(to: 60)
        return (
          [stretch.began, stretch.duration, stretch.waited],
          stretch.attempt > 1 ? "\(name) (attempt \(stretch.attempt))" : name
        )
      })
  }

  /// Columns of right-aligned times, followed by a text.
  private func table(_ titles: [String], _ rows: [(times: [Duration], text: String)]) -> String {
    var lines = [(cells: titles, text: "")]
    for row in rows {
      let cells = row.times.enumerated().map { index, time in
        // A wait of less than one percent of the length is not shown.
        index == 2 && time * 100 < row.times[1] ? "" : time.readable
      }
      lines.append((cells, row.text))
    }
    return lines.map { line in
      let cells = line.cells.map { String(repeating: " ", count: max(0, 12 - $0.count)) + $0 }
      let text = cells.joined() + (line.text.isEmpty ? "" : "   " + line.text)
      return text + "\n"
    }.joined()
  }
}
