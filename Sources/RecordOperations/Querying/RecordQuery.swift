/// Which records of a type are looked for, in which order, and with which fields.
public struct RecordQuery: Hashable, Sendable {
  public var type: String
  public var zone: RecordZone
  /// What has to be so of them; nil if all are looked for.
  public var predicate: RecordPredicate?
  /// Which is the first: by the first of these, where they are equal by the second, and so on. Those that are equal
  /// by all of them come in an order of the database, which is the same each time.
  public var order: [RecordOrder]
  /// The fields that are wanted; nil for all.
  public var keys: [String]?

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

/// Where a query goes on. It means something to the database alone that has given it.
public struct RecordCursor: Hashable, Sendable {
  /// What the database wants to know again.
  public let values: [FieldValue]

  public init(_ values: [FieldValue]) { self.values = values }
}

/// Some of the records that a query finds, next to one another.
public struct RecordPage: Sendable {
  public var records: [DatabaseRecord]
  /// Where the next page begins; nil if this is the last one.
  public var cursor: RecordCursor?

  public init(_ records: [DatabaseRecord], cursor: RecordCursor?) {
    self.records = records
    self.cursor = cursor
  }
}
