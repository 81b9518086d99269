import SystemSupport

/// The last success of a step or a child: the only fact that is stored about it, and all that the
/// decision uses which is not observed now.
package struct FlowRecord: Sendable {
  /// The name of the step or the child.
  let unit: String
  /// The number of the run to which the success belongs.
  let run: Int
  let definition: String
  /// The files of `inputs` before the commands ran. See ``FileFingerprint``.
  var inputs: String
  /// The files of `outputs` after the commands ran.
  var outputs: String
  /// The lines of a step that another step reads with `lines-of`.
  let lines: [String]?
  /// The products of the steps that it needs, as it has used them.
  let used: FlowUse
  /// The number of the success. Each success gets the next one of the state file.
  package var number: Int64
  /// The number of the success that has last changed an output. Without outputs, that is each one.
  package var made: Int64
  /// When it ended, in milliseconds since 1970, for people.
  let ended: Int64
  /// In nanoseconds.
  let duration: Int64

  package init(
    unit: String, run: Int, definition: String, inputs: String, outputs: String, lines: [String]?,
    used: FlowUse, number: Int64, made: Int64, ended: Int64, duration: Int64
  ) {
    (self.unit, self.run, self.definition) = (unit, run, definition)
    (self.inputs, self.outputs, self.lines, self.used) = (inputs, outputs, lines, used)
    (self.number, self.made, self.ended, self.duration) = (number, made, ended, duration)
  }
}

/// Identifies the product of a step, for the steps that need it.
package struct FlowMade: Hashable, Sendable {
  /// See ``FlowRecord/made``. Of several steps or children, the highest one.
  var number: Int64 = 0
  /// Identifies the set of children; nil without children.
  var children: UInt64?
  /// Identifies the products of the children; nil without children. The highest number does not show each
  /// change: a run that is continued can use successes that are older than those of other runs.
  var products: UInt64?

  package init(number: Int64) { self.number = number }

  /// The product of a step with these children, or of a step that only groups others.
  ///
  /// - Parameter members: Different names.
  init(_ members: some Sequence<(name: String, made: FlowMade)>) {
    var (names, products): ([ExactText], [ExactText]) = ([], [])
    for (name, made) in members {
      number = max(number, made.number)
      names.append(ExactText(made.children.map { "\(name)\0\($0)" } ?? name))
      products.append(ExactText("\(name)\0\(made.text)"))
    }
    (children, self.products) = (Self.hash(names), Self.hash(products))
  }

  private static func hash(_ texts: [ExactText]) -> UInt64 {
    texts.sorted().flatMap { Array($0.text.utf8) + [UInt8(ascii: "\n"), 0] }.hash64
  }

  /// `7`, or `7/` and the hashes of the children and of their products.
  fileprivate var text: String {
    (["\(number)"] + [children, products].compactMap { $0.map { String($0, radix: 16) } })
      .joined(separator: "/")
  }

  fileprivate init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/")
    guard let number = parts.first.flatMap({ Int64($0) }) else { return nil }
    self.number = number
    if parts.count > 1 { children = UInt64(parts[1], radix: 16) }
    if parts.count > 2 { products = UInt64(parts[2], radix: 16) }
  }
}

/// The products that a step uses, by the names of the steps that it needs.
package struct FlowUse: Sendable {
  /// How a step has changed since it was used.
  enum Change: Hashable, Sendable {
    case made(String)
    case children(String)
    /// It is a new need, or no need any more.
    case needs(String)
  }

  /// A line for each step, sorted: what it made, and its name. Most steps need the same products as before, so
  /// only a text that differs is read.
  let text: String

  package init(_ made: [String: FlowMade]) {
    text = made.sorted { $0.key < $1.key }.map { "\($1.text) \($0)" }.joined(separator: "\n")
  }

  init(text: String) { self.text = text }

  /// Returns the first difference from what was used before, by name; nil if there is none.
  func change(from earlier: FlowUse) -> Change? {
    if text.hasSameBytes(as: earlier.text) { return nil }
    let (made, earlier) = (made, earlier.made)
    for name in Set(made.keys).union(earlier.keys).sorted() {
      guard let now = made[name], let before = earlier[name] else { return .needs(name.text) }
      // Without one of its children, the highest number may be another one, too.
      if now.children != before.children { return .children(name.text) }
      if now != before { return .made(name.text) }
    }
    return nil
  }

  private var made: [ExactText: FlowMade] {
    var made: [ExactText: FlowMade] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2 else { continue }
      made[ExactText(String(parts[1]))] = FlowMade(parts[0])
    }
    return made
  }
}

/// The facts about a step that the steps that need it use.
package struct FlowStepState: Hashable, Sendable {
  var made: FlowMade
  var lines: [String]?

  /// - Parameter record: Nil for a step that has never succeeded.
  init(_ record: FlowRecord?) {
    made = FlowMade(number: record?.made ?? 0)
    lines = record?.lines
  }

  init(_ made: FlowMade) { self.made = made }
}
