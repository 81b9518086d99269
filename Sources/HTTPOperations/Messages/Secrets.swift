internal import CompositeOperations
internal import Foundation

// Texts and mirrors of the types that hold headers, URLs or passwords. A program that logs or dumps a
// value must not publish them; the properties still have them.

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
  /// The headers without secrets, in lower case. A list of those with secrets could not be complete:
  /// keys have names such as `X-Api-Key`, and a `Location` may have a signature.
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
        "undecodedCoding": undecodedCoding as Any,
      ], displayStyle: .struct)
  }
}

extension HTTPConfiguration: CustomReflectable {
  /// The headers, the proxy and the certificates without secrets.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "headers": headers, "timeout": timeout, "connectionsPerHost": connectionsPerHost,
        "connectionWait": connectionWait, "headerLimit": headerLimit, "version": version,
        "proxy": proxy, "certificates": certificates,
      ], displayStyle: .struct)
  }
}

extension HTTPConfiguration.Proxy: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The kind, and the URL without user and password.
  public var description: String {
    switch self {
    case .system: "system"
    case .none: "none"
    case .url(let url): url.withoutSecrets
    }
  }
  /// The same text.
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["": description]) }
}

extension HTTPConfiguration.Certificates: CustomReflectable {
  /// The files, and whether there is a password.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "authorities": authorities as Any, "client": client as Any, "key": key as Any,
        "keyPassword": keyPassword == nil ? "none" : "…",
      ], displayStyle: .struct)
  }
}

extension HTTPSession: CustomReflectable {
  /// The configuration, without the requests that are running.
  public var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}

extension HTTPExchange: CustomReflectable {
  package var customMirror: Mirror {
    Mirror(self, children: ["request": "\(request.method) \(request.url.withoutSecrets)"])
  }
}

extension HTTPDataOperation: CustomReflectable {
  public var customMirror: Mirror { Mirror(naming: self) }
}

extension HTTPStreamOperation: CustomReflectable {
  public var customMirror: Mirror { Mirror(naming: self) }
}

extension HTTPDownloadOperation: CustomReflectable {
  public var customMirror: Mirror { Mirror(naming: self) }
}

extension HTTPUploadOperation: CustomReflectable {
  public var customMirror: Mirror { Mirror(naming: self) }
}

extension OpenTelemetryExporter: CustomReflectable {
  /// The URL without secrets, and the name of the service.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["url": url.withoutSecrets, "service": service], displayStyle: .struct)
  }
}

extension OpenTelemetryExportError: CustomReflectable {
  /// The URL without secrets.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "url": url.withoutSecrets, "reason": reason, "retryDelay": retryDelay as Any,
      ], displayStyle: .struct)
  }
}

extension Mirror {
  /// The mirror of an operation: its name, which has no secrets.
  fileprivate init(naming operation: some ComposableOperation) {
    self.init(
      operation, children: ["operationName": operation.operationName], displayStyle: .struct)
  }
}
