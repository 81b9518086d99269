// The requests and responses of CloudKit Web Services, with the names of Apple's reference.

struct CloudKitZoneID: Codable, Hashable {
  var zoneName: String
  var ownerRecordName: String?
}

struct CloudKitModifyRequest: Encodable {
  struct Operation: Encodable {
    /// The conditions and effects of an operation.
    enum Kind: String, Encodable {
      case create, update, forceUpdate, forceReplace, delete, forceDelete
    }

    var operationType: Kind
    var record: CloudKitRecordToSend
  }

  var operations: [Operation]
  var zoneID: CloudKitZoneID?
  var atomic: Bool
}

struct CloudKitRecordToSend: Encodable {
  var recordName: String
  var recordType: String?
  var recordChangeTag: String?
  var fields: [String: CloudKitField]?
}

struct CloudKitLookupRequest: Encodable {
  struct Name: Encodable { var recordName: String }

  var records: [Name]
  var zoneID: CloudKitZoneID?
  var desiredKeys: [String]?
}

struct CloudKitQueryRequest: Encodable {
  struct Query: Encodable {
    var recordType: String
    var filterBy: [CloudKitFilter]
    var sortBy: [Sort]
  }

  struct Sort: Encodable {
    var fieldName: String
    var ascending: Bool
  }

  var query: Query
  var zoneID: CloudKitZoneID?
  var resultsLimit: Int
  var desiredKeys: [String]?
  var continuationMarker: String?
}

struct CloudKitFilter: Encodable, Equatable {
  enum Comparator: String, Encodable {
    case equals = "EQUALS"
    case notEquals = "NOT_EQUALS"
    case less = "LESS_THAN"
    case lessOrEqual = "LESS_THAN_OR_EQUALS"
    case greater = "GREATER_THAN"
    case greaterOrEqual = "GREATER_THAN_OR_EQUALS"
    case isOne = "IN"
    case isNone = "NOT_IN"
    case hasPrefix = "BEGINS_WITH"
    case hasNotPrefix = "NOT_BEGINS_WITH"
    case includes = "LIST_CONTAINS"
  }

  var comparator: Comparator
  var fieldName: String
  var fieldValue: CloudKitField
}

/// The response to a modification, a lookup or a query.
struct CloudKitRecordsResponse: Decodable {
  var records: [CloudKitRecordResult]
  var continuationMarker: String?
}

/// A record in a response, or the error of it.
struct CloudKitRecordResult: CloudKitResult {
  struct Moment: Decodable { var timestamp: Double? }

  var recordName: String?
  var recordType: String?
  var recordChangeTag: String?
  var fields: [String: CloudKitField]?
  var modified: Moment?
  var deleted: Bool?
  var serverErrorCode: String?
  var reason: String?
  var retryAfter: Double?
}

/// An item of a response, or the error of the item.
protocol CloudKitResult: Decodable {
  var serverErrorCode: String? { get }
  var reason: String? { get }
  var retryAfter: Double? { get }
}

extension CloudKitResult {
  /// The error of the item; nil if there is none.
  var failure: CloudKitFailure? {
    serverErrorCode.map {
      CloudKitFailure(serverErrorCode: $0, reason: reason, retryAfter: retryAfter)
    }
  }
}

/// The error of a request, a record or a zone.
struct CloudKitFailure: Decodable, Equatable {
  var serverErrorCode: String
  var reason: String?
  /// The delay in seconds after which the request may be repeated.
  var retryAfter: Double?
  var redirectURL: String?
}

struct CloudKitChangesRequest: Encodable {
  struct Zone: Encodable {
    var zoneID: CloudKitZoneID
    var syncToken: String?
  }

  var zones: [Zone]
  var resultsLimit: Int
}

struct CloudKitChangesResponse: Decodable {
  struct Zone: CloudKitResult {
    var syncToken: String?
    var moreComing: Bool?
    var records: [CloudKitRecordResult]?
    var serverErrorCode: String?
    var reason: String?
    var retryAfter: Double?
  }

  var zones: [Zone]
}

struct CloudKitZonesRequest: Encodable {
  struct Operation: Encodable {
    enum Kind: String, Encodable { case create, delete }

    var operationType: Kind
    var zone: Zone
  }

  struct Zone: Encodable { var zoneID: CloudKitZoneID }

  var operations: [Operation]
}

struct CloudKitZonesResponse: Decodable {
  struct Zone: CloudKitResult {
    var zoneID: CloudKitZoneID?
    var serverErrorCode: String?
    var reason: String?
    var retryAfter: Double?
  }

  var zones: [Zone]
}

/// A request without parameters.
struct CloudKitEmptyRequest: Encodable {}

struct CloudKitUserResponse: Decodable { var userRecordName: String }
