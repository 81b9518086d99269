import Foundation

/// A program that does nothing and needs no libraries.
final class StaticProgram: Sendable {
  private let folder: URL

  var path: String { folder.appendingPathComponent("nothing").path }

  /// A C compiler that can link without dynamic libraries; nil if there is none.
  static var compiler: String? {
    guard let path = Programs.path(of: "cc") else { return nil }
    let asking = Process()
    asking.executableURL = URL(fileURLWithPath: path)
    asking.arguments = ["-print-file-name=libc.a"]
    let answer = Pipe()
    asking.standardOutput = answer
    guard (try? asking.run()) != nil else { return nil }
    let text = String(decoding: answer.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    asking.waitUntilExit()
    // A compiler that does not find the file prints only its name.
    return text.hasPrefix("/") ? path : nil
  }

  /// Compiles the program.
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
      throw BenchmarkError("\(compilerPath) cannot link a program with -static (output above)")
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
