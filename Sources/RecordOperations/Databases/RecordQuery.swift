/// A query for records of a type, with their order and their fields.
///
/// ```swift
/// import RecordOperations
///
/// let query = RecordQuery(
///   "Book", where: Field("pages") > 500, sortedBy: [.ascending("title")], keys: ["title"])
/// let page = try await MemoryRecordDatabase().query(query, after: nil, atMost: 20)
/// ```
public struct RecordQuery: Hashable, Sendable {
  /// The type of the records.
  public var type: String
  /// The zone of the records.
  public var zone: RecordZone
  /// The condition that the records meet; `nil` for all records.
  public var predicate: RecordPredicate?
  /// The order of the records: by the first of these, then by the second, and so on. Records that
  /// are equal by all of them are in an order of the database, which is the same each time.
  public var order: [RecordOrder]
  /// The fields to fetch; `nil` for all.
  public var keys: [String]?

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - type: The type of the records.
  ///   - zone: The zone of the records.
  ///   - predicate: The condition that the records meet; `nil` for all records.
  ///   - order: The order of the records.
  ///   - keys: The fields to fetch; `nil` for all.
  public init(
    _ type: String, in zone: RecordZone = .default, where predicate: RecordPredicate? = nil,
    sortedBy order: [RecordOrder] = [], keys: [String]? = nil
  ) {
    self.type = type
    self.zone = zone
    self.predicate = predicate
    self.order = order
    self.keys = keys
  }
}

/// The position at which a query continues. Only the database that issued it can interpret it.
public struct RecordCursor: Hashable, Sendable {
  /// The values by which the database finds the position again.
  public let values: [FieldValue]

  /// Creates a cursor from the database's values for the position.
  public init(_ values: [FieldValue]) { self.values = values }
}

/// A page of the records that match a query.
public struct RecordPage: Sendable {
  /// The records on the page.
  public var records: [DatabaseRecord]
  /// The start of the next page; `nil` if this is the last one.
  public var cursor: RecordCursor?

  /// Creates a page.
  public init(_ records: [DatabaseRecord], cursor: RecordCursor?) {
    self.records = records
    self.cursor = cursor
  }
}

extension RecordQuery {
  /// The features that a database needs to run the query.
  package var needs: RecordCapabilities {
    (predicate?.needs ?? []).union(order.isEmpty ? [] : .sorting)
  }
}

extension RecordPredicate {
  /// The features that a database needs to evaluate the predicate.
  var needs: RecordCapabilities {
    switch self {
    case .comparison, .isOne, .hasPrefix, .impossible: []
    case .contains: .textSearch
    case .includes: .listSearch
    case .all(let parts): parts.reduce(into: []) { $0.formUnion($1.needs) }
    case .any(let parts): parts.reduce(into: .alternatives) { $0.formUnion($1.needs) }
    case .not(let part): part.needs.union(.negation)
    }
  }
}
