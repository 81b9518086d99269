package import Foundation

/// A stored record.
package struct CloudRecord: Sendable, Equatable {
  /// The time and the user of a save.
  package struct Stamp: Sendable, Equatable {
    /// The time by the server's clock.
    package var time: Date
    /// The record name of the user.
    package var user: String
  }

  /// The `recordName`, unique in the zone over all types.
  package var name: String
  /// The `recordType`.
  package var type: String
  /// The `recordChangeTag`: opaque text, new at each save.
  package var tag: String
  /// The first save.
  package var created: Stamp
  /// The last save.
  package var modified: Stamp
  /// The fields that have a value, by name.
  package var fields: [String: CloudField]
  /// The position of the last save in the changes of the server.
  var sequence: Int

}

/// The form of records in a response.
struct CloudRecordFormat: Sendable {
  /// The fields to return; nil for all.
  var desiredKeys: Set<String>?
  var numbersAsStrings = false

  func json(_ record: CloudRecord) -> CloudValue {
    let fields = record.fields.filter { desiredKeys?.contains($0.key) ?? true }
    return [
      "recordName": .string(record.name), "recordType": .string(record.type),
      "recordChangeTag": .string(record.tag), "deleted": false,
      "created": json(record.created), "modified": json(record.modified),
      "fields": .object(
        fields.mapValues { ["value": number($0.value), "type": .string($0.type)] }),
    ]
  }

  private func json(_ stamp: CloudRecord.Stamp) -> CloudValue {
    [
      "timestamp": .integer(stamp.time.cloudMilliseconds),
      "userRecordName": .string(stamp.user), "deviceID": "2",
    ]
  }

  private func number(_ value: CloudValue) -> CloudValue {
    switch value {
    case .integer(let integer) where numbersAsStrings: .string("\(integer)")
    case .double(let double) where numbersAsStrings: .string("\(double)")
    case .array(let array): .array(array.map(number))
    case .null, .boolean, .integer, .double, .string, .object: value
    }
  }
}
