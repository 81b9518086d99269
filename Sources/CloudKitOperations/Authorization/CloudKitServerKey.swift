package import Foundation

/// A server-to-server key, which signs requests to the public database of a container.
///
/// ```swift
/// import CloudKitOperations
///
/// let key = try CloudKitServerKey(id: "8f2c…", contentsOfFile: "eckey.pem")
/// ```
///
/// `openssl ecparam -name prime256v1 -genkey -noout -out eckey.pem` makes a key, and `openssl ec
/// -in eckey.pem -pubout` prints its public half. CloudKit Console shows the ID of the key after
/// the public half was registered there.
///
/// On Linux, signatures need libcrypto. If its header was missing when the package was built,
/// creating a key is an error that says so.
public struct CloudKitServerKey: Sendable {
  /// The ID that CloudKit has assigned to the key.
  public let id: String
  private let signer: ECDSASigner

  /// Creates a key from its private half.
  ///
  /// - Parameters:
  ///   - id: The ID that CloudKit has assigned to the key.
  ///   - pem: The private half in PEM, on the curve P-256, without a passphrase.
  /// - Throws: A ``CloudKitKeyError``.
  public init(id: String, pem: String) throws {
    self.id = id
    guard !id.isEmpty, id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw CloudKitKeyError(
        "the text of \(id.utf8.count) bytes is no ID of a server-to-server key; expected the ID that CloudKit "
          + "Console shows, without spaces")
    }
    signer = try ECDSASigner(pem: pem)
  }

  /// Creates a key from a file with its private half.
  ///
  /// - Parameters:
  ///   - id: The ID that CloudKit has assigned to the key.
  ///   - path: The path of a file with the private half in PEM.
  /// - Throws: A ``CloudKitKeyError``, and an error of Foundation if the file cannot be read.
  public init(id: String, contentsOfFile path: String) throws {
    try self.init(
      id: id, pem: String(decoding: Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self))
  }

  /// Returns the headers that sign a request.
  ///
  /// - Parameters:
  ///   - body: The body of the request.
  ///   - path: The path of the URL, without a query.
  ///   - date: The time of the request. The signature is valid for 10 minutes.
  package func headers(for body: Data, to path: String, at date: Date) throws -> [String: String] {
    let moment = date.formatted(.iso8601)
    let hash = Data(ECDSASigner.digest(of: Array(body))).base64EncodedString()
    let signature = try signer.signature(of: Array("\(moment):\(hash):\(path)".utf8))
    return [
      "X-Apple-CloudKit-Request-KeyID": id, "X-Apple-CloudKit-Request-ISO8601Date": moment,
      "X-Apple-CloudKit-Request-SignatureV1": Data(signature).base64EncodedString(),
    ]
  }
}

extension CloudKitServerKey: CustomStringConvertible, CustomReflectable {
  /// The ID of the key, without the private half.
  public var description: String { "CloudKitServerKey(\(id))" }
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// The error of a server-to-server key that cannot be used.
public struct CloudKitKeyError: Error, Sendable, CustomStringConvertible {
  /// What is wrong with the key, and what to do.
  public let description: String

  init(_ description: String) { self.description = description }
}
