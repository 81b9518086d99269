import Foundation

/// The state of a container: databases, zones, schema, tokens and markers.
struct CloudStore: Sendable {
  /// A database of a user, or the public one.
  struct Database: Sendable {
    var zones: [String: CloudZone] = [:]
    /// By name of a deleted zone, its ID and the position of its deletion.
    var deletedZones: [String: (id: CloudValue, sequence: Int)] = [:]
  }

  /// The results of a query that have not been returned yet.
  struct Marker: Sendable {
    var request: CloudValue
    var results: [(zone: String, record: String)]
    var offset: Int
  }

  let environment: String
  let options: FakeCloudKit.Options
  var databases: [String: Database] = [:]
  /// By record type, the types of its fields. The first value of a field determines its type.
  var schema: [String: [String: String]] = [:]
  var markers: [String: Marker] = [:]
  /// Change tokens of another epoch have expired.
  var epoch = 1
  private(set) var sequence = 0

  init(environment: String, options: FakeCloudKit.Options) {
    self.environment = environment
    self.options = options
  }

  mutating func nextSequence() -> Int {
    sequence += 1
    return sequence
  }

  /// The key of a database: private and shared databases belong to a user.
  static func key(_ database: String, user: String?) -> String {
    database == "public" ? database : "\(database)/\(user ?? "")"
  }

  func database(_ context: CloudContext) -> Database { databases[context.key] ?? Database() }

  /// Returns a zone of a database, which has the default zone from the start.
  ///
  /// - Throws: `ZONE_NOT_FOUND`.
  func zone(_ id: CloudZoneID, _ context: CloudContext) throws -> CloudZone {
    if let zone = databases[context.key]?.zones[id.name],
      id.owner == nil || id.owner == zone.owner
    {
      return zone
    }
    guard id.name == CloudZone.defaultName, id.owner == nil || id.owner == context.owner,
      context.database != "shared"
    else {
      throw CloudError("ZONE_NOT_FOUND", "did not find zone '\(id.name)'")
    }
    return CloudZone(name: id.name, owner: context.owner, creation: 0)
  }

  /// Creates or changes a record without any check.
  mutating func save(
    _ name: String, type: String, fields: [String: CloudField], in zone: inout CloudZone,
    user: String, now: Date
  ) -> CloudRecord {
    for (key, field) in fields where field.type != "EMPTY_LIST" {
      schema[type, default: [:]][key] = schema[type]?[key] ?? field.type
    }
    schema[type] = schema[type] ?? [:]
    let sequence = nextSequence()
    let stamp = CloudRecord.Stamp(time: now, user: user)
    let record = CloudRecord(
      name: name, type: type, tag: String(sequence + 35, radix: 36),
      created: zone.records[name]?.created ?? stamp, modified: stamp, fields: fields,
      sequence: sequence)
    zone.save(record)
    return record
  }
}

/// The database, the user and the time of a request.
struct CloudContext: Sendable {
  var database: String
  var user: String?
  var now: Date
  /// Codes of injected errors, by record name.
  var failures: [String: String] = [:]

  var key: String { CloudStore.key(database, user: user) }

  /// The owner of the zones that the user creates.
  var owner: String { database == "public" ? Authentication.developer : user ?? "" }
}

/// The zone ID of a request.
struct CloudZoneID: Sendable {
  static let keys: Set = ["zoneName", "ownerRecordName"]

  var name: String
  var owner: String?

  /// - Parameter object: Nil for the default zone.
  init(_ object: RequestObject?) throws {
    name = CloudZone.defaultName
    guard let object else { return }
    name = try object.required("zoneName", try object.string("zoneName"))
    owner = try object.string("ownerRecordName")
  }
}
