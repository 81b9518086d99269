import Foundation

/// A program that does nothing and needs no libraries.
final class StaticProgram: Sendable {
  private let folder: URL

  var path: String { folder.appendingPathComponent("nothing").path }

  /// Compiles it.
  init(by compilerPath: String) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let source = folder.appendingPathComponent("nothing.c")
    try Data("int main(void) { return 0; }\n".utf8).write(to: source)
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: compilerPath)
    compiler.arguments = ["-O1", "-static", "-o", path, source.path]
    try compiler.run()
    compiler.waitUntilExit()
    if compiler.terminationStatus != 0 {
      throw BenchmarkError("\(compilerPath) cannot link a program with -static: see above")
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
