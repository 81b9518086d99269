/// A permission or feature that may be granted or denied, such as the contacts, a login or a paid
/// feature.
///
/// Require it with ``Condition/authorized(for:)``:
///
/// ```swift
/// struct Contacts: Capability {
///   func status() async throws -> CapabilityStatus { try await addressBook.permission() }
///   func request() async throws -> CapabilityStatus { try await addressBook.askForPermission() }
/// }
///
/// let contacts = Condition.authorized(for: Contacts())
/// let load = LoadContacts().requiring(contacts)
/// ```
public protocol Capability: Sendable {
  /// The name in errors. Defaults to the name of the type.
  var name: String { get }

  /// Returns the current status without requesting the capability.
  ///
  /// - Throws: Any error. The condition then fails with it.
  func status() async throws -> CapabilityStatus

  /// Requests the capability and returns the resulting status.
  ///
  /// - Throws: Any error. The condition then fails with it.
  func request() async throws -> CapabilityStatus
}

extension Capability {
  /// The name of the type.
  public var name: String { "\(Self.self)" }
}

/// The authorization status of a capability.
public enum CapabilityStatus: Hashable, Sendable {
  /// The capability has not been requested yet.
  case undetermined
  /// The capability may be used.
  case authorized
  /// The capability may not be used.
  case denied
  /// The capability does not exist here.
  case unavailable
}

/// The error of a condition whose capability may not be used.
public struct CapabilityError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the capability.
  public let name: String
  /// The status of the capability.
  public let status: CapabilityStatus

  public var description: String { "\(name) is \(status)" }
}

extension Condition {
  /// Returns a condition that is met if a capability may be used.
  ///
  /// If the status of the capability is ``CapabilityStatus/undetermined``, the condition first
  /// calls ``Capability/request()``. If the capability may not be used, the condition fails with a
  /// ``CapabilityError``.
  ///
  /// Operations that share one condition evaluate it one at a time, so that the capability is
  /// requested only once. So store the condition in a `let`.
  ///
  /// - Parameter capability: The capability that is required.
  public static func authorized(for capability: some Capability) -> Condition {
    Condition(
      SimpleOperation { try await capability.isAuthorized() }
        .named("authorized for \(capability.name)")
        .exclusive(in: Permits(1, name: capability.name)))
  }
}

extension Capability {
  fileprivate func isAuthorized() async throws -> Bool {
    var status = try await status()
    if status == .undetermined { status = try await request() }
    guard status == .authorized else { throw CapabilityError(name: name, status: status) }
    return true
  }
}
