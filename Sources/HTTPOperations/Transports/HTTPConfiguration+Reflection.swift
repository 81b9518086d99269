internal import Foundation

// A program that logs or dumps a value must not publish the secrets in it. The properties have
// them.

extension HTTPConfiguration: CustomReflectable {
  /// The headers, the proxy and the certificates without secrets.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "headers": headers, "timeout": timeout, "connectTimeout": connectTimeout as Any,
        "responseTimeout": responseTimeout as Any, "connectionsPerHost": connectionsPerHost,
        "connectionWait": connectionWait, "headerLimit": headerLimit, "version": version,
        "proxy": proxy, "unixSocket": unixSocket as Any, "keepsCookies": keepsCookies,
        "sendsTraceParent": sendsTraceParent,
        "certificates": certificates,
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
