public import Foundation
public import RecordOperations

/// How a ``CloudKitRecordDatabase`` is used.
///
/// ```swift
/// import CloudKitOperations
///
/// var options = CloudKitOptions(zone: "Library")
/// options.types = ["Author", "Book"]
/// options.referenceTypes = ["Book.author": "Author"]
/// ```
public struct CloudKitOptions: Sendable {
  /// The name of the zone that CloudKit has in every database.
  public static let defaultZone = "_defaultZone"

  /// The name in CloudKit of the zone ``RecordOperations/RecordZone/default``. Only in
  /// zones that were created does CloudKit report changes and save batches atomically.
  public var zone: String
  /// The types of the records. CloudKit reports only the name of a deleted record. A change is
  /// therefore reported as a deletion of a record of each of these types. The changes of records of other types are
  /// not reported.
  public var types: [String]
  /// The types of the records that references refer to, by the type and the field: `"Book.author"`.
  /// CloudKit stores only the name of the record. For a field that is missing here, the type is
  /// looked up, with one more request for each page.
  public var referenceTypes: [String: String]
  /// The limits of a request. CloudKit accepts 200 changes, and returns 200 records.
  public var limits: RecordLimits
  /// The address of CloudKit.
  public var host: URL

  /// Creates options.
  ///
  /// - Parameters:
  ///   - zone: The name in CloudKit of the default zone.
  ///   - types: The types of the records.
  ///   - referenceTypes: The types of the records that references refer to.
  ///   - limits: The limits of a request.
  ///   - host: The address of CloudKit, without a slash at its end.
  public init(
    zone: String = Self.defaultZone, types: [String] = [], referenceTypes: [String: String] = [:],
    limits: RecordLimits = RecordLimits(items: 200, bytes: 8_000_000, page: 200),
    host: URL = URL(string: "https://api.apple-cloudkit.com")!
  ) {
    self.zone = zone
    self.types = types
    self.referenceTypes = referenceTypes
    self.limits = limits
    self.host = host
  }
}
