/// A step of a flow, with the defaults of its file.
package struct FlowStep: Hashable, Sendable {
  package let name: String
  /// The location of the name.
  package let location: FlowLocation
  /// The commands, which run in order; at least one.
  package let commands: [FlowCommand]
  /// The steps that must have succeeded. The step in ``each`` is not repeated here.
  package let needs: [FlowReference]
  /// The steps that must have ended, with any outcome.
  package let after: [FlowReference]
  /// A command that decides whether the step runs: status 0 runs it, 1 skips it, any other status
  /// fails it. In a step with ``each``, it runs for each child.
  package let onlyIf: FlowCommand?
  /// Files and patterns.
  package let inputs: [FlowTemplate]
  /// Files and patterns. In a step with ``each``, all of them use `${each}`.
  package let outputs: [FlowTemplate]
  package let each: FlowEach?
  /// The maximum number of children that run at once; nil without ``each``.
  package let width: Int?
  /// The number of attempts after the first one.
  package let retries: Int
  /// The first delay between two attempts.
  package let backoff: Duration?
  /// The maximum duration of an attempt.
  package let timeout: Duration?
  package let directory: FlowTemplate?
  /// The variables of the file and of its defaults, which all steps share.
  let sharedEnvironment: [FlowVariable]
  /// The variables of the step itself.
  let ownEnvironment: [FlowVariable]
  /// The locks, sorted by name. Steps that take several locks in this order cannot deadlock.
  package let locks: [FlowLock]
  /// The exit statuses that count as success.
  package let accept: Set<Int32>
  /// A file that is the standard input of all commands.
  package let standardInput: FlowTemplate?

  /// The variables of the file, of the defaults and of the step. A name occurs once: the step comes
  /// before the defaults, and the defaults before the file.
  ///
  /// The variables are merged here and not in the file: many variables of many steps would need too
  /// much memory.
  package var environment: [FlowVariable] { sharedEnvironment.merging(ownEnvironment) }

  /// The names of all steps that must have succeeded or ended before this step, in the order of the
  /// file, without duplicates.
  package var dependencies: [String] {
    var seen: Set<String> = []
    return references.map(\.name).filter { seen.insert($0).inserted }
  }

  /// All references to other steps.
  private var references: [FlowReference] { [each?.reference].compactMap(\.self) + needs + after }
}

extension [FlowVariable] {
  /// The variables, replaced and followed by others.
  func merging(_ others: [FlowVariable]) -> [FlowVariable] {
    if others.isEmpty { return self }
    let names = Set(others.map(\.name))
    return filter { !names.contains($0.name) } + others
  }
}
