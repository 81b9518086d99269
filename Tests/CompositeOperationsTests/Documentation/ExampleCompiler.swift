import Foundation

/// Type-checks examples against the modules that were built with these tests.
struct ExampleCompiler {
  /// The error thrown when the compiler or the modules are not found.
  struct Unavailable: Error, CustomStringConvertible {
    let description: String
  }

  private let compiler: URL
  private let modules: URL
  private let moduleCache: URL
  private let libraries: URL

  init() async throws {
    compiler = try Self.findCompiler()
    modules = try Self.findModules()
    moduleCache = modules.deletingLastPathComponent().appendingPathComponent("ModuleCache")
    struct Info: Decodable {
      struct Paths: Decodable { let runtimeResourcePath: String }
      let paths: Paths
    }
    let info = try await Program(file: compiler, arguments: ["-print-target-info"]).run().output
    let paths = try JSONDecoder().decode(Info.self, from: Data(info.utf8)).paths
    libraries = URL(fileURLWithPath: paths.runtimeResourcePath)
  }

  /// Whether the package contains a module on this machine.
  func hasModule(_ name: String) -> Bool {
    FileManager.default.fileExists(
      atPath: modules.appendingPathComponent("\(name).swiftmodule").path)
  }

  /// Returns the compiler's errors and warnings for the examples, one text each.
  func problems(of examples: [Example], prelude: String) async throws -> [String] {
    let sources = examples.enumerated().map { index, example in
      example.source(named: "example\(index)")
    }
    return try await problems(ofSources: sources, arguments: [prelude])
  }

  /// Returns the compiler's errors and warnings for files of one module, one text each.
  ///
  /// - Parameters:
  ///   - sources: The contents of the files.
  ///   - arguments: Further arguments of the compiler, such as another file.
  func problems(ofSources sources: [String], arguments: [String] = []) async throws -> [String] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = try sources.enumerated().map { index, source in
      let file = folder.appendingPathComponent("Example\(index).swift")
      try Data(source.utf8).write(to: file)
      return file.path
    }
    let end = try await Program(
      file: compiler,
      arguments: [
        "-typecheck", "-swift-version", "6", "-wmo", "-parse-as-library",
        "-module-name", "Examples", "-I", modules.path, "-module-cache-path", moduleCache.path,
        // For the C modules that the package's modules import.
        "-I", Checkout.path(of: "Sources/CProcesses/include"),
        "-I", Checkout.path(of: "Sources/CCurl"), "-I", Checkout.path(of: "Sources/CSQLite"),
        "-I", Checkout.path(of: "Sources/CZlib"), "-I", Checkout.path(of: "Sources/CPostgres"),
        "-I", Checkout.path(of: "Sources/CCrypto"), "-I", Checkout.path(of: "Sources/CYAML"),
        // For the macros of Testing, and for manifests.
        "-plugin-path", libraries.appendingPathComponent("host/plugins/testing").path,
        "-I", libraries.appendingPathComponent("pm/ManifestAPI").path,
        "-package-description-version", "6.2",
        "-diagnostic-style", "llvm", "-no-color-diagnostics",
      ] + arguments + files
    ).run()
    let problems = Self.problems(in: end.output)
    if end.status != 0, problems.isEmpty { return ["\(compiler.path) failed:\n\(end.output)"] }
    return problems
  }

  /// Returns the number of scopes that the compiler's constraint solver opens for a file.
  func solverScopes(of source: String) async throws -> Int {
    let statistics = FileManager.default.temporaryDirectory
      .appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: statistics, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: statistics) }
    let problems = try await problems(
      ofSources: [source], arguments: ["-stats-output-dir", statistics.path])
    if let problem = problems.first { throw Unavailable(description: problem) }
    let files = try FileManager.default.contentsOfDirectory(
      at: statistics, includingPropertiesForKeys: nil)
    // The driver writes a file without this number.
    let counts = try files.compactMap { file in
      let numbers = try JSONDecoder().decode([String: Double].self, from: Data(contentsOf: file))
      return numbers["Sema.NumConstraintScopes"].map(Int.init)
    }
    guard let count = counts.max() else {
      throw Unavailable(description: "the compiler counted no scopes in \(files)")
    }
    return count
  }

  /// Returns the errors and warnings, each with the lines below it that belong to it.
  private static func problems(in output: String) -> [String] {
    var problems: [String] = []
    var isKept = false
    for line in output.split(separator: "\n") {
      let isError = line.contains(": error: ")
      if isError || line.contains(": warning: ") {
        // An example may leave a value unused.
        isKept = isError || !(line.contains("was never") || line.contains("is unused"))
        if isKept { problems.append(String(line)) }
      } else if isKept {
        problems.append("\(problems.removeLast())\n\(line)")
      }
    }
    return problems
  }
}

// MARK: - Locations

extension ExampleCompiler {
  private static func findCompiler() throws -> URL {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    for folder in path.split(separator: ":") {
      let file = URL(fileURLWithPath: String(folder)).appendingPathComponent("swiftc")
      if FileManager.default.isExecutableFile(atPath: file.path) { return file }
    }
    throw Unavailable(
      description: "cannot compile the examples: there is no swiftc in PATH (\(path))")
  }

  /// Returns the folder of the built modules, which contains the tests or is above them.
  private static func findModules() throws -> URL {
    let bundles = CommandLine.arguments.filter { $0.contains(".xctest") }
    let starts = ["/proc/self/exe"] + bundles + [Bundle.main.bundlePath]
    for start in starts {
      var folder = URL(fileURLWithPath: start).resolvingSymlinksInPath()
      while folder.path != "/" {
        folder.deleteLastPathComponent()
        for modules in [folder.appendingPathComponent("Modules"), folder] {
          let module = modules.appendingPathComponent("CompositeOperations.swiftmodule")
          if FileManager.default.fileExists(atPath: module.path) { return modules }
        }
      }
    }
    throw Unavailable(
      description: "cannot compile the examples: CompositeOperations.swiftmodule is in no folder "
        + "above \(starts)")
  }
}
