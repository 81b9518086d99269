import Foundation

/// What has changed between two JSON values, for a person: paths with the values before and after.
struct JSONDifference {
  struct Change: Equatable {
    /// The path, such as `items[3].name`; empty for the whole value.
    let path: String
    /// Nil for a value that was added.
    let before: String?
    /// Nil for a value that was removed.
    let after: String?
  }

  private(set) var changes: [Change] = []
  /// Whether there are more changes than ``changes``.
  private(set) var isPartial = false
  private let limit: Int
  /// The number of bytes of the values that are compared: a page has a hundred of them.
  private static let comparedBytes = 100_000

  /// - Parameters:
  ///   - before: The value before; nil if it is not known.
  ///   - limit: The maximum number of changes.
  init(from before: String?, to after: String, limit: Int = 50) {
    self.limit = limit
    guard let before, before != after else { return }
    guard before.utf8.count + after.utf8.count <= Self.comparedBytes else {
      isPartial = true
      return
    }
    guard let old = Self.value(before), let new = Self.value(after) else {
      // Values that are not JSON, as in an encrypted journal.
      changes = [Change(path: "", before: before, after: after)]
      return
    }
    compare(old, new, at: "")
  }

  private static func value(_ text: String) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
  }

  private static func text(_ value: Any?) -> String? {
    guard let value else { return nil }
    let options: JSONSerialization.WritingOptions = [
      .fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes,
    ]
    let data = try? JSONSerialization.data(withJSONObject: value, options: options)
    return data.map { String(decoding: $0, as: UTF8.self) }
  }

  private mutating func compare(_ old: Any, _ new: Any, at path: String) {
    if isPartial { return }
    switch (old, new) {
    case (let old as [String: Any], let new as [String: Any]):
      for key in Set(old.keys).union(new.keys).sorted() {
        note(old[key], new[key], at: path.isEmpty ? key : "\(path).\(key)")
      }
    case (let old as [Any], let new as [Any]):
      for index in 0..<max(old.count, new.count) {
        note(
          index < old.count ? old[index] : nil, index < new.count ? new[index] : nil,
          at: "\(path)[\(index)]")
      }
    default:
      let (before, after) = (Self.text(old), Self.text(new))
      if before != after { add(Change(path: path, before: before, after: after)) }
    }
  }

  private mutating func note(_ old: Any?, _ new: Any?, at path: String) {
    if let old, let new { return compare(old, new, at: path) }
    add(Change(path: path, before: Self.text(old), after: Self.text(new)))
  }

  private mutating func add(_ change: Change) {
    if changes.count == limit { isPartial = true } else { changes.append(change) }
  }
}
