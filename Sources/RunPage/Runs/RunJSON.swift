package import DurableOperations
import FlowFiles
import Foundation
package import SystemSupport

/// Runs as JSON objects, each on a line.
package enum RunJSON {
  package static func line(_ run: RunSummary) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { write(run, to: &$0) }
    return writer.bytes + [UInt8(ascii: "\n")]
  }

  /// - Parameters:
  ///   - events: The events that were sent to the run, the newest first.
  ///   - actions: The actions of persons on the run, the newest first.
  ///   - members: Writes further members.
  package static func line(
    _ details: RunDetails, events: [StoredEvent], actions: [RecordedAction],
    adding members: (inout JSONWriter) -> Void = { _ in }
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      write(details.summary, to: &writer)
      writer.member("outcome", json: details.outcome)
      writer.member("sequence", json: details.sequence)
      writer.name("steps")
      write(details.steps.filter { $0.key.isEmpty }, to: &writer)
      writer.name("keys")
      write(details.steps.filter { !$0.key.isEmpty }, to: &writer)
      writer.name("events")
      writer.array { writer in
        for event in events {
          writer.object { writer in
            writer.member("name", event.name)
            writer.member("sent", Date(milliseconds: event.sent).iso8601)
            writer.member("value", json: event.payload)
          }
        }
      }
      if let step = details.currentStep {
        writer.name("currentStep")
        writer.object { write(step, to: &$0) }
      }
      writer.name("actions")
      writer.array { writer in
        for action in actions { writer.object { write(action, to: &$0) } }
      }
      members(&writer)
    }
    return writer.bytes + [UInt8(ascii: "\n")]
  }

  /// Writes the members of a run.
  static func write(_ run: RunSummary, to writer: inout JSONWriter) {
    writer.member("id", run.id.text)
    writer.member("flow", run.flow)
    writer.member("state", run.state.rawValue)
    writer.member("finishedSteps", number: run.step)
    writer.member("attempt", number: run.attempt)
    writer.member("wakes", optional: run.wakes?.iso8601)
    writer.member("event", optional: run.event)
    writer.member("reason", optional: run.reason)
    writer.member("parent", optional: run.parent?.text)
    writer.member("owner", number: run.owner)
    writer.member("worker", optional: run.worker)
    writer.name("ownerHasEnded")
    writer.literal(run.ownerHasEnded ? "true" : "false")
    if let problem = run.ownerProblem { writer.member("ownerProblem", problem) }
    writer.member("began", run.began.iso8601)
    writer.member("updated", run.updated.iso8601)
    writer.member("ended", optional: run.ended?.iso8601)
    writer.member("cancelled", optional: run.cancelled?.iso8601)
  }

  private static func write(_ step: CurrentStep, to writer: inout JSONWriter) {
    writer.member("name", step.name)
    writer.member("began", optional: step.began?.iso8601)
    writer.member("attempt", number: step.attempt)
    writer.member("attemptLimit", number: step.attemptLimit)
    writer.member("lastError", optional: step.lastError)
    writer.member("nextAttempt", optional: step.nextAttempt?.iso8601)
  }

  private static func write(_ action: RecordedAction, to writer: inout JSONWriter) {
    writer.member("action", action.action)
    writer.member("detail", optional: action.detail)
    writer.member("actor", action.actor)
    writer.member("began", Date(milliseconds: action.began).iso8601)
    writer.member("ended", optional: action.ended.map { Date(milliseconds: $0).iso8601 })
    writer.member("problem", optional: action.problem)
  }

  private static func write(_ steps: [RunDetails.Step], to writer: inout JSONWriter) {
    writer.array { writer in
      for step in steps {
        writer.object { writer in
          writer.member("position", number: step.position)
          if !step.key.isEmpty { writer.member("key", step.key) }
          writer.member("name", step.name)
          writer.member("kind", step.kind.rawValue)
          writer.member("value", json: step.value)
          writer.member("sequence", json: step.state)
          writer.member("attempts", number: step.attempts)
          writer.member("began", step.began.iso8601)
          writer.member("ended", step.ended.iso8601)
          writer.member("fence", number: step.fence)
          writer.member("worker", optional: step.worker)
        }
      }
    }
  }

  /// Whether a text is a JSON value.
  package static func isValid(_ text: String) -> Bool {
    let value = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    return value != nil
  }
}

extension JSONWriter {
  fileprivate mutating func member(_ name: String, number: Int?) {
    self.name(name)
    if let number { integer(number) } else { null() }
  }

  fileprivate mutating func member(_ name: String, optional text: String?) {
    self.name(name)
    if let text { string(text) } else { null() }
  }

  /// Writes a stored value, which is text if the journal is encrypted, for example.
  fileprivate mutating func member(_ name: String, json text: String?) {
    self.name(name)
    guard let text else { return null() }
    if RunJSON.isValid(text) { literal(text) } else { string(text) }
  }
}
