/// Something that somebody may allow or forbid: the contacts, a login, a paid feature.
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
  /// What errors call it. The type's name by default.
  var name: String { get }

  /// How things stand. It asks nobody.
  func status() async throws -> CapabilityStatus

  /// Asks for it, and says how things stand then.
  func request() async throws -> CapabilityStatus
}

extension Capability {
  public var name: String { "\(Self.self)" }
}

/// How things stand with a capability.
public enum CapabilityStatus: Hashable, Sendable {
  /// Nobody has been asked yet.
  case undetermined
  /// It may be used.
  case authorized
  /// It may not be used.
  case denied
  /// It is not there.
  case unavailable
}

/// The error of an operation that needs a capability which it may not use.
public struct CapabilityError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What the capability is called.
  public let name: String
  /// How things stand.
  public let status: CapabilityStatus

  public var description: String { "\(name) is \(status)" }
}

extension Condition {
  /// Met if a capability may be used; asks for it if nobody has been asked yet.
  ///
  /// It fails with a ``CapabilityError`` where the capability may not be used. Operations that are
  /// given one and the same condition ask one after another, so that nobody is asked again who has
  /// answered.
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
