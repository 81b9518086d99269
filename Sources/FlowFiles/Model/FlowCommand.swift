/// A command of a step.
package enum FlowCommand: Hashable, Sendable {
  /// A program and its arguments. No shell reads them.
  case program([FlowTemplate])
  /// A text for the shell of the step. Nothing is replaced in it; the values of the flow, and `each` in a
  /// child, are variables of the shell.
  case shell(String)
}

/// The values for which a step has a child each.
package enum FlowEach: Hashable, Sendable {
  case list([FlowTemplate])
  /// The files that match a pattern.
  case glob(FlowTemplate)
  /// The lines that a step writes to its standard output.
  case linesOf(FlowReference)
  /// All combinations of the values of some columns.
  case matrix([FlowColumn])
  /// The rows that a step writes to its standard output.
  case rowsOf(FlowReference)
  /// The rows of a file.
  case rowsOfFile(FlowTemplate)
  /// The values of another step. A child begins when the child of that step with the same value has
  /// succeeded.
  case sameAs(FlowReference)

  /// The step that provides the values, if one does. It must have succeeded, child by child with
  /// `same-as`.
  package var reference: FlowReference? {
    switch self {
    case .list, .glob, .matrix, .rowsOfFile: nil
    case .linesOf(let reference), .rowsOf(let reference), .sameAs(let reference): reference
    }
  }
}

/// A column of a matrix.
package struct FlowColumn: Hashable, Sendable {
  package let name: String
  package let values: [FlowTemplate]
}

/// The name of another step.
package struct FlowReference: Hashable, Sendable {
  package let name: String
  package let location: FlowLocation
}

/// An environment variable.
package struct FlowVariable: Hashable, Sendable {
  package let name: String
  package let text: FlowTemplate
  /// The location of the name.
  package let location: FlowLocation
}

/// A lock that a step takes.
package struct FlowLock: Hashable, Sendable {
  package let name: String
  /// The number of permits, at least 1.
  package let permits: Int
  package let location: FlowLocation
}
