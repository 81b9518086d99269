import CompositeOperations
import Foundation

/// Builds a program from the C files of a folder, and creates only files that are older than their
/// sources.
struct FolderBuild: Sendable {
  let folder: URL
  /// Runs a command in the folder.
  let run: @Sendable (_ command: [String]) async throws -> Void

  func graph() throws -> OperationGraph<Void> {
    let sources = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasSuffix(".c") }
    return OperationGraph(width: .limited(to: 2)) { graph in
      let version = graph.add(
        make("version.h", of: ["VERSION"], by: ["cp", "VERSION", "version.h"]))
      let objects = sources.map { source in
        graph.add(needing: version, named: "compile \(source)") { _ in
          let object = String(source.dropLast(2)) + ".o"
          return make(object, of: try files(in: source), by: ["cc", "-c", source, "-o", object])
        }
      }
      return graph.add(needingAll: objects, named: "link") { objects in
        make("program", of: objects, by: ["cc", "-o", "program"] + objects).map { _ in }
      }
    }
  }

  /// Returns the name of a file, and creates the file if it is missing or older than another one.
  private func make(
    _ file: String, of others: [String], by command: [String]
  ) -> some ComposableOperation<String> {
    SimpleOperation {
      let made = (try? date(of: file)) ?? .distantPast
      if try others.contains(where: { try date(of: $0) > made }) { try await run(command) }
      return file
    }.named(file)
  }

  private func date(of file: String) throws -> Date {
    let path = folder.appendingPathComponent(file).path
    return try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
      ?? .distantPast
  }

  /// Returns a source and the files that it includes, directly or indirectly.
  private func files(in source: String) throws -> [String] {
    var files = [source]
    var next = 0
    while next < files.count {
      let text = try String(
        contentsOf: folder.appendingPathComponent(files[next]), encoding: .utf8)
      for include in text.matches(of: #/(?m)^#include "(.+)"/#).map({ String($0.1) }) {
        if !files.contains(include) { files.append(include) }
      }
      next += 1
    }
    return files
  }
}
