import CompositeOperations
import CompositeOperationsFoundation

extension Shape {
  /// The program `true`, two at a time.
  static func processes(count: Int) -> Shape {
    Shape(
      id: "processes", title: "\(count.grouped) processes that do nothing, two at a time",
      operations: count,
      ways: spawning(count: count) { Programs.doingNothing } + builders(count: count))
  }

  /// The smallest possible program, two at a time. Without a dynamic linker, little is measured but
  /// the start of a process and the detection of its end.
  ///
  /// - Parameter compiler: The path of the C compiler that builds the program.
  static func spawns(count: Int, compiler: String) -> Shape {
    let program = Prepared { Result { try StaticProgram(by: compiler) } }
    return Shape(
      id: "spawns", title: "\(count.grouped) processes without libraries, two at a time",
      operations: count, ways: spawning(count: count) { try program.value.get().path })
  }

  private static func spawning(
    count: Int, _ program: @escaping @Sendable () throws -> String
  ) -> [Way] {
    [
      Way("output kept", .ours) { try await run(count, ProcessOperation(program())) },
      Way("output inherited", .ours) {
        let operation = ProcessOperation(try program())
          .sendingOutput(to: .inherited).sendingErrorOutput(to: .inherited)
        return try await run(count, operation)
      },
      Way("Foundation.Process", .swift) {
        try await run(count, FoundationProcess(path: program()))
      },
      .blocking("posix_spawn and waitpid, 2 threads", .limit) {
        try BareSpawns.run(program(), count: count, threads: 2)
      },
    ]
  }

  private static func run(
    _ count: Int, _ operation: some ComposableOperation
  ) async throws -> UInt64 {
    let list = ParallelOperation(width: .limited(to: 2)) {
      (0..<count).lazy.map { _ in operation }
    }
    return try await UInt64(list.run().get().count)
  }

  /// Programs that run programs, where they are installed.
  private static func builders(count: Int) -> [Way] {
    let plan = Prepared { Result { try BuildPlan(count: count) } }
    return ["make", "ninja"].compactMap { name in
      guard let path = Programs.path(of: name) else { return nil }
      return Way("\(name) -j2", .peer) {
        let folder = try plan.value.get().path
        let arguments = name == "make" ? ["-s", "-j2"] : ["--quiet", "-j2"]
        _ = try await ProcessOperation(path, arguments: arguments, in: folder).run().get()
        return UInt64(count)
      }
    }
  }
}
