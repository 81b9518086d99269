/// A step of a flow, with the defaults of its file.
package struct FlowStep: Hashable, Sendable {
  package let name: String
  /// The location of the name.
  package let location: FlowLocation
  /// The commands, which run in order; none in a step that only groups others.
  package let commands: [FlowCommand]
  /// The steps that must have succeeded. The step in ``each`` is not repeated here.
  package let needs: [FlowReference]
  /// The steps that must have ended, with any outcome.
  package let after: [FlowReference]
  /// Files and patterns.
  package let inputs: [FlowTemplate]
  /// Files and patterns. In a step with ``each``, all of them use `${each}`.
  package let outputs: [FlowTemplate]
  /// The other fields, which most steps of a file share.
  let options: FlowStepOptions.Shared

  /// A command that decides whether the step runs: status 0 runs it, 1 skips it, any other status
  /// fails it. In a step with ``each``, it runs for each child.
  package var onlyIf: FlowCommand? { options.value.onlyIf }
  package var each: FlowEach? { options.value.each }
  /// The maximum number of children that run at once; nil without ``each``.
  package var width: Int? { options.value.width }
  /// The number of attempts after the first one.
  package var retries: Int { options.value.retries }
  /// The first delay between two attempts.
  package var backoff: Duration? { options.value.backoff }
  /// The maximum duration of an attempt.
  package var timeout: Duration? { options.value.timeout }
  /// The time between SIGTERM and SIGKILL for a command that the flow terminates.
  package var stopGrace: Duration { options.value.stopGrace }
  package var directory: FlowTemplate? { options.value.directory }
  /// The program and the arguments before a text for the shell.
  package var shell: [FlowTemplate] { options.value.shell }
  /// The locks, sorted by name. Steps that take several locks in this order cannot deadlock.
  package var locks: [FlowLock] { options.value.locks }
  /// The exit statuses that count as success.
  package var accept: Set<Int32> { options.value.accept }
  /// A file that is the standard input of all commands.
  package var standardInput: FlowTemplate? { options.value.standardInput }
  /// Whether the commands use the terminal.
  package var isInteractive: Bool { options.value.isInteractive }
  /// What decides whether its inputs and outputs are as before. It is no part of the definition.
  package var comparison: FlowComparison { options.value.comparison }

  /// The variables of the file, of the defaults and of the step. A name occurs once: the step comes
  /// before the defaults, and the defaults before the file.
  ///
  /// The variables are merged here and not in the file: many variables of many steps would need too
  /// much memory.
  package var environment: [FlowVariable] {
    options.value.sharedEnvironment.merging(options.value.ownEnvironment)
  }

  /// Whether it only groups the steps that it needs.
  package var isGroup: Bool { commands.isEmpty }
  /// Whether it runs only if it is selected, or a step that needs it is.
  package var isManual: Bool { options.value.isManual }

  /// The names of all steps that must have succeeded or ended before this step, in the order of the
  /// file, without duplicates.
  package var dependencies: [String] {
    var seen: Set<String> = []
    return references.map(\.name).filter { seen.insert($0).inserted }
  }

  /// All references to other steps.
  private var references: [FlowReference] { [each?.reference].compactMap(\.self) + needs + after }
}

/// The fields that most steps of a file do not have, or take from its defaults. See ``FlowStep``.
struct FlowStepOptions: Hashable, Sendable {
  /// The options of one or several steps. A file can have 10,000 steps, and a copy of these fields
  /// takes 300 bytes.
  final class Shared: Hashable, Sendable {
    let value: FlowStepOptions

    init(_ value: FlowStepOptions) { self.value = value }

    static func == (one: Shared, other: Shared) -> Bool {
      one === other || one.value == other.value
    }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
  }

  let onlyIf: FlowCommand?
  let each: FlowEach?
  let width: Int?
  let retries: Int
  let backoff: Duration?
  let timeout: Duration?
  let stopGrace: Duration
  let directory: FlowTemplate?
  let shell: [FlowTemplate]
  /// The variables of the file and of its defaults, which all steps share.
  let sharedEnvironment: [FlowVariable]
  /// The variables of the step itself.
  let ownEnvironment: [FlowVariable]
  let locks: [FlowLock]
  let accept: Set<Int32>
  let standardInput: FlowTemplate?
  let isManual: Bool
  let isInteractive: Bool
  let comparison: FlowComparison
}

/// What decides whether a file is as before.
package enum FlowComparison: String, FlowChoice {
  /// Its size, modification time and inode.
  case stamp
  /// The hash of its contents, if they have another stamp.
  case content
}

extension [FlowVariable] {
  /// The variables, replaced and followed by others.
  func merging(_ others: [FlowVariable]) -> [FlowVariable] {
    if others.isEmpty { return self }
    let names = Set(others.map(\.name))
    return filter { !names.contains($0.name) } + others
  }
}
