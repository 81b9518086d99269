internal import Foundation

/// Performs a body with the path of a file in a temporary folder, which is removed afterwards.
package func withTemporaryFile<Value>(
  _ name: String = "flows.sqlite", _ body: (String) async throws -> Value
) async throws -> Value {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("durable-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder.appendingPathComponent(name).path)
}
