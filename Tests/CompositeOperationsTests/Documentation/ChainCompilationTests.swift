import CompositeOperations
import Testing

/// The compiler's work for chains of modifiers, and the lines at which it reports errors in them.
///
/// The compiler counts the scopes that its constraint solver opens for an expression. That number
/// is the same on every machine. A chain takes about 10 scopes for each modifier. If the
/// combinations of overloads multiply, every modifier doubles the number.
@Suite struct ChainCompilationTests {
  static let modifiers = [
    ".then { n in SimpleOperation { n + 1 } }",
    ".then { n in SimpleOperation.withContext { context in try await context.run(SimpleOperation { n }) } }",
    ".then { n in ParallelOperation([SimpleOperation { n }]).map { $0[0] } }",
    ".then { n in ParallelOperation([n].map { m in SimpleOperation { m } }) }.map { $0[0] }",
    ".then { n in ParallelOperation(SimpleOperation { n }, SimpleOperation { true }) }.map { n, _ in n }",
    ".then { n in if n > 1 { SimpleOperation { n } } else { SimpleOperation { 0 }.named(\"0\") } }",
    ".then { n in let m = n + 1; return SimpleOperation { m } }",
    ".then { n in SimpleOperation { n }.retrying(attempts: 2) }",
    ".map { $0 + 1 }",
    ".map { n in n > 1 ? 2 : n }",
    ".recovering { _ in 0 }",
    ".recovering { $0 is Skipped ? 0 : 1 }",
    ".recovering { error in guard error is Skipped else { throw error }; return 0 }",
    ".catching { _ in SimpleOperation { 0 } }",
    ".fallingBack(to: SimpleOperation { 1 })",
    ".fallingBack(toEachOf: [SimpleOperation { 1 }, SimpleOperation { 2 }.map { $0 }])",
    ".ignoringErrors(with: 0)",
    ".mapError { error in Skipped(because: \"\\(error)\") }",
    ".retrying(attempts: 3, backoff: .exponential(from: .milliseconds(100)).jittered())",
    ".retrying(attempts: 2) { _ in true }",
    ".retrying(upTo: 2) { $0.number < 3 ? .retry(after: $0.delay) : .stop }",
    ".hedged(after: .milliseconds(50))",
    ".hedged(after: .milliseconds(50), attempts: 3) { _ in true }",
    ".repeating(times: 2)",
    ".repeating(times: 2) { $0 == 1 }",
    ".requiring(Condition(\"x\") { true })",
    ".requiring(Condition(\"x\") { await Task.yield(); return true })",
    ".requiring([isOpen, Condition(SimpleOperation { true })])",
    ".requiring(.not(isOpen), .all(isOpen, isOpen), .any([isOpen]))",
    ".exclusive(in: permits)",
    ".limited(by: permits)",
    ".limited(by: keyed[1])",
    ".throttled(to: 2, per: .seconds(1))",
    ".guarded(by: breaker)",
    ".timingOut(after: .seconds(1), .abandoning)",
    ".delayed(by: .seconds(1))",
    ".delayed(until: .now)",
    ".finally { outcome in await Task.yield(); _ = outcome }",
    ".onStart { }",
    ".onEnd { _ in }",
    ".onProgress { _ in }",
    ".discarding { _ in }",
    ".observed()",
    ".named(\"x\")",
    ".weighing(2)",
    ".prioritized(at: .high)",
    ".shared(in: shares, for: 1)",
    ".submitted(to: pool)",
  ]

  private static let prelude = """
    import CompositeOperations
    let isOpen = Condition("is open") { true }
    let permits = Permits(1, name: "permits")
    let keyed = KeyedPermits<Int>(1)
    let breaker = CircuitBreaker(opensAfterFailures: 1, halfOpensAfter: .seconds(1))
    let shares = SharedRuns<Int, Int>()
    let pool = OperationPool()
    """

  /// Returns a file with a function for each chain, which begins with an operation that returns a
  /// number.
  static func source(_ chains: [[String]]) -> String {
    let functions = chains.enumerated().map { index, chain in
      "func chain\(index)() {\n  _ = SimpleOperation { 1 }\n"
        + chain.map { "    \($0)\n" }.joined() + "}"
    }
    return ([prelude] + functions).joined(separator: "\n")
  }

  private static func problems(of source: String, scopes: Int) async throws -> [String] {
    try await ExampleCompiler().problems(
      ofSources: [source],
      arguments: [
        "-enable-upcoming-feature", "NonisolatedNonsendingByDefault",
        "-Xfrontend", "-solver-scope-threshold=\(scopes)",
      ])
  }

  @Test func `a chain of 20 equal modifiers compiles`() async throws {
    let chains = Self.modifiers.map { Array(repeating: $0, count: 20) }
    #expect(try await Self.problems(of: Self.source(chains), scopes: 2_000) == [])
  }

  @Test func `a chain of 60 equal modifiers with closures compiles`() async throws {
    let chains = Self.modifiers.filter { $0.contains("{") && !$0.contains("}.") }
      .map { Array(repeating: $0, count: 60) }
    #expect(chains.count > 15)
    #expect(try await Self.problems(of: Self.source(chains), scopes: 5_000) == [])
  }

  @Test func `chains of 20 and 60 random modifiers compile`() async throws {
    let seeds = (0..<4).map { _ in UInt64.random(in: 1..<1_000_000) }
    let chains = seeds.flatMap { seed in
      var randomness = OperationRandomness.seeded(seed)
      let modifiers = (0..<60).compactMap { _ in Self.modifiers.randomElement(using: &randomness) }
      return [Array(modifiers.prefix(20)), modifiers]
    }
    let problems = try await Self.problems(of: Self.source(chains), scopes: 5_000)
    #expect(problems == [], "seeds \(seeds)")
  }

  // Each level once had five times as many scopes as the one inside.
  @Test func `lists that are nested 12 deep compile`() async throws {
    #expect(try await ExampleCompiler().solverScopes(of: Self.nestedLists(depth: 12)) < 300)
  }

  /// Returns a file with a list in a list, and so on.
  static func nestedLists(depth: Int) -> String {
    var list = "SimpleOperation { 1 }"
    for _ in 0..<depth { list = "ParallelOperation([\(list)])" }
    return "import CompositeOperations\nfunc use() { _ = \(list) }"
  }

  // The whole closure was once checked for each initializer of a graph, and each of its calls for an
  // overload with any number of nodes: 11,241 scopes. The time still grows with the square of the
  // number of nodes, unless the nodes are added in a function.
  @Test(arguments: [true, false])
  func `a graph of 100 nodes compiles`(isFunction: Bool) async throws {
    let file = Self.graph(nodeCount: 100, isFunction: isFunction)
    #expect(try await ExampleCompiler().solverScopes(of: file) < 3_000)
  }

  /// Returns a file with a graph, each of whose nodes needs the one before.
  ///
  /// - Parameter isFunction: Whether a function adds the nodes, instead of a closure.
  static func graph(nodeCount: Int, isFunction: Bool) -> String {
    let nodes = (1..<nodeCount).map { node in
      "let n\(node) = graph.add(needing: n\(node - 1)) { n in SimpleOperation { n + 1 } }"
    }
    let lines =
      ["let n0 = graph.add(SimpleOperation { 1 })"] + nodes + ["return n\(nodeCount - 1)"]
    let body = lines.joined(separator: "\n")
    let source =
      isFunction
      ? "func build(_ graph: inout GraphBuilder) -> GraphNode<Int> {\n\(body)\n}\n"
        + "let graph = OperationGraph(build)"
      : "func use() {\nlet graph = OperationGraph { graph in\n\(body)\n}\n_ = graph\n}"
    return "import CompositeOperations\n" + source
  }

  // Such overloads once made chains of 10 `then` and of 20 `recovering` too complex for the
  // compiler.
  @Test func `the limit detects overloads whose combinations multiply`() async throws {
    let overloaded = """
      extension ComposableOperation {
        func going<Next: ComposableOperation>(
          _ next: @escaping @Sendable (Success) async throws -> Next
        ) -> some ComposableOperation<Next.Success> { then(next) }
        func going(
          on next: @escaping @Sendable (Success) async throws -> Success
        ) -> some ComposableOperation<Success> { map(next) }
      }
      """
    let chain = Array(repeating: ".going { n in SimpleOperation { n + 1 } }", count: 20)
    let source = [Self.source([chain]), overloaded].joined(separator: "\n")
    let problems = try await Self.problems(of: source, scopes: 2_000)
    #expect(problems.contains { $0.contains("unable to type-check") }, "\(problems)")
  }

  @Test func `an error is reported at its own line, and at no earlier line of the chain`()
    async throws
  {
    let before = [
      ".then { n in SimpleOperation { n + 1 } }", ".named(\"x\")",
      ".then { n in SimpleOperation.withContext { context in n } }", ".recovering { _ in 0 }",
    ]
    let after = [
      ".retrying(attempts: 2) { $0 is Skipped }", ".finally { _ in }",
      ".timingOut(after: .seconds(1))", ".then { n in SimpleOperation { n + 1 } }",
    ]
    for (wrong, message) in [
      (".then { n in SimpleOperation { n + \"x\" } }", "operator '+' cannot be applied"),
      (".then { n in SimpleOperation { n.count } }", "has no member 'count'"),
      (".then { n in Missing(n) }", "cannot find 'Missing' in scope"),
      (".then { n in n }", "requires that 'Int' conform to 'ComposableOperation'"),
      (".catching { _ in 0 }", "requires that 'Int' conform to 'ComposableOperation'"),
      (".requiring { true }", "Condition(\"is online\") { … }"),
      (".recovering { _ in \"x\" }", "cannot convert value of type 'String'"),
      (".recovering { 0 }", "expects 1 argument"),
      (".fallingBack(to: SimpleOperation { \"x\" })", "requires the types 'Int' and 'String'"),
      (".catching { _ in SimpleOperation { \"x\" } }", "cannot convert value of type 'String'"),
      (".timingOut(after: 1)", "cannot convert value of type 'Int'"),
      (".timingOut(afterr: .seconds(1))", "incorrect argument label"),
      (".requiring(Condition(\"x\") { 1 })", "cannot convert value of type 'Int'"),
      (".finally { print(\"x\") }", "expects 1 argument"),
      (".then { n in SimpleOperation { context in n } }", "expects 0 arguments"),
      (".missing()", "has no member 'missing'"),
      (".map { n in n.count }", "has no member 'count'"),
    ] {
      let source = Self.source([before + [wrong] + after])
      // Locating an error takes more scopes than compiling a correct chain.
      let problems = try await Self.problems(of: source, scopes: 100_000)
      let line = 1 + (source.split(separator: "\n").firstIndex { $0.hasSuffix(wrong) } ?? 0)
      let errors = problems.filter { $0.contains(": error: ") }
      let place = ".swift:\(line):"
      #expect(
        errors.contains { $0.contains(place) && $0.contains(message) }, "\(wrong): \(problems)")
      let lines = errors.compactMap { Int($0.split(separator: ":").dropFirst().first ?? "") }
      #expect(lines.allSatisfy { $0 >= line }, "\(wrong): \(problems)")
    }
  }
}
