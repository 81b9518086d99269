package import Foundation

/// A request that a `LoopbackServer` received.
package struct LoopbackRequest: Sendable {
  package let head: String
  package let body: Data
  /// The number of requests before this one.
  package private(set) var number = 0

  init(head: String, body: Data) {
    self.head = head
    self.body = body
  }

  func numbered(_ number: Int) -> LoopbackRequest {
    var request = self
    request.number = number
    return request
  }

  package var method: String { String(head.prefix { $0 != " " }) }

  /// The path with the query.
  package var path: String {
    head.split(separator: " ", maxSplits: 2).dropFirst().first.map(String.init) ?? ""
  }

  /// The value of a header. The name is case-insensitive.
  package subscript(name: String) -> String? {
    for line in head.split(separator: "\r\n").dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2, parts[0].lowercased() == name.lowercased() {
        return parts[1].trimmingCharacters(in: .whitespaces)
      }
    }
    return nil
  }
}
