import SystemSupport

/// How many steps of a run of a flow file have ended, as the list of runs shows it.
struct FlowProgress: Sendable {
  /// The name in the flow file.
  let flow: String
  /// The number of steps that no option excludes; nil if the journal does not keep them any more.
  let stepCount: Int?
  let ended: Int
  /// The number of those that have failed.
  let failed: Int

  /// `3 of 7, 1 failed`.
  var text: String {
    guard let stepCount else { return "" }
    return "\(ended.grouped) of \(stepCount.grouped)"
      + (failed > 0 ? ", \(failed.grouped) failed" : "")
  }

  func write(to json: inout JSONWriter) {
    json.name("flowFile")
    json.object { json in
      json.member("flow", flow)
      guard let stepCount else { return }
      json.member("stepCount", stepCount)
      json.member("endedSteps", ended)
      json.member("failedSteps", failed)
    }
  }
}
