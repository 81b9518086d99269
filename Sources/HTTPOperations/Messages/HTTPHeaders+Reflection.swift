internal import CompositeOperations

// A program that logs or dumps a value must not publish the secrets in it. The properties have
// them.

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The names, and the values of some headers that never have secrets.
  public var description: String { "[\(fields.map(\.description).joined(separator: ", "))]" }
  /// The same text.
  public var debugDescription: String { description }
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: fields, displayStyle: .collection)
  }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The headers without secrets, in lower case. A list of those with secrets could not be
  /// complete: keys have names such as `X-Api-Key`, and a `Location` may have a signature.
  private static let shown: Set = [
    "accept", "accept-encoding", "accept-language", "accept-ranges", "age", "allow",
    "cache-control", "connection", "content-encoding", "content-language", "content-length",
    "content-range", "content-type", "date", "etag", "expires", "host", "last-modified", "range",
    "retry-after", "server", "transfer-encoding", "user-agent", "vary",
  ]

  /// The name and the value; the latter only if it never is a secret.
  public var description: String {
    "\(name): \(Self.shown.contains(name.lowercased()) ? value : "…")"
  }
  /// The same text.
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["": description]) }
}

extension HTTPResponseHead: CustomReflectable {
  /// The URL and the headers without secrets.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "url": url.withoutSecrets, "status": status, "headers": headers,
        "undecodedCoding": undecodedCoding as Any, "timings": timings as Any,
      ], displayStyle: .struct)
  }
}

extension Mirror {
  /// The mirror of an operation: its name, which has no secrets.
  init(naming operation: some ComposableOperation) {
    self.init(
      operation, children: ["operationName": operation.operationName], displayStyle: .struct)
  }
}
