import Foundation

/// A change token of a zone or a database. Clients see opaque text.
private struct SyncToken {
  var epoch: Int
  /// The database, the zone and its creation.
  var place: String
  var sequence: Int
  /// Deletions up to this position are not reported: the first fetch had no token.
  var floor: Int

  init(epoch: Int, place: String, sequence: Int, floor: Int) {
    self.epoch = epoch
    self.place = place
    self.sequence = sequence
    self.floor = floor
  }

  /// - Throws: `BAD_REQUEST` for a foreign or expired token. Apple does not publish its code.
  init(_ text: String, place: String, epoch: Int) throws {
    let parts = Data(base64Encoded: text).map { String(decoding: $0, as: UTF8.self) }?
      .split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    guard let parts, parts.count == 4, parts[1] == place,
      let tokenEpoch = Int(parts[0]), let sequence = Int(parts[2]), let floor = Int(parts[3])
    else {
      throw CloudError.badRequest("invalid syncToken: it does not belong to this zone or database")
    }
    guard tokenEpoch == epoch else {
      throw CloudError.badRequest("invalid syncToken: it has expired")
    }
    self.init(epoch: epoch, place: place, sequence: sequence, floor: floor)
  }

  var text: CloudValue {
    .string(Data("\(epoch)|\(place)|\(sequence)|\(floor)".utf8).base64EncodedString())
  }
}

extension CloudStore {
  func changesOfZones(_ body: CloudValue, _ context: CloudContext) throws -> CloudValue {
    let request = try RequestObject(
      body, at: "request", keys: ["zones", "resultsLimit", "numbersAsStrings"])
    let keys: Set = ["zoneID", "syncToken", "desiredKeys", "desiredRecordTypes", "reverse"]
    let zones = try request.required("zones", try request.objects("zones", keys: keys))
    try checkHasCustomZones(context)
    var limit = try request.resultsLimit(atMost: options.limits.recordsPerResponse)
    let numbersAsStrings = try request.boolean("numbersAsStrings") ?? false
    let items = try zones.map { object -> CloudValue in
      let idObject = try object.required(
        "zoneID", try object.object("zoneID", keys: CloudZoneID.keys))
      let id = try CloudZoneID(idObject)
      do {
        let zone = try zone(id, context)
        if zone.isDefault {
          throw CloudError.badRequest("the default zone has no changes; only custom zones have")
        }
        let format = CloudRecordFormat(
          desiredKeys: try object.strings("desiredKeys"), numbersAsStrings: numbersAsStrings)
        let (item, used) = try changes(of: zone, object, atMost: limit, format, context)
        limit -= used
        return item
      } catch let error as CloudError {
        return .object(error.members.merging(["zoneID": object["zoneID"] ?? .null]) { $1 })
      }
    }
    return ["zones": .array(items)]
  }

  private func changes(
    of zone: CloudZone, _ object: RequestObject, atMost limit: Int, _ format: CloudRecordFormat,
    _ context: CloudContext
  ) throws -> (CloudValue, count: Int) {
    let place = Self.place(of: zone, in: context)
    var token = SyncToken(epoch: epoch, place: place, sequence: 0, floor: zone.sequence)
    if let text = try object.string("syncToken") {
      token = try SyncToken(text, place: place, epoch: epoch)
    }
    let types = try object.strings("desiredRecordTypes")
    if try object.boolean("reverse") ?? false {
      throw CloudError.badRequest("'reverse' is not supported by this server")
    }
    let floor = max(token.floor, token.sequence)
    let saved = zone.records.values.filter {
      $0.sequence > token.sequence && types?.contains($0.type) ?? true
    }.map { (sequence: $0.sequence, name: $0.name) }
    let deleted = zone.deletions.filter {
      $1.sequence > floor && types?.contains($1.type) ?? true
    }.map { (sequence: $1.sequence, name: $0) }
    let changes = (saved + deleted).sorted { $0.sequence < $1.sequence }
    let page = changes.prefix(limit)
    let isLast = page.count == changes.count
    token.sequence = isLast ? zone.sequence : page.last?.sequence ?? token.sequence
    let records = page.map { change in
      if let code = context.failures[change.name] {
        return Self.failure(of: change.name, CloudError.injected(code))
      }
      return zone.records[change.name].map(format.json)
        ?? Self.deletion(of: change.name, type: zone.deletions[change.name]?.type, options)
    }
    let item: CloudValue = [
      "zoneID": zone.id, "syncToken": token.text, "moreComing": .boolean(!isLast),
      "records": .array(records),
    ]
    return (item, page.count)
  }

  func changesOfDatabase(_ body: CloudValue, _ context: CloudContext) throws -> CloudValue {
    let request = try RequestObject(body, at: "request", keys: ["syncToken", "resultsLimit"])
    try checkHasCustomZones(context)
    let limit = try request.resultsLimit(atMost: options.limits.recordsPerResponse)
    let database = database(context)
    let last =
      (database.zones.values.map(\.sequence)
      + database.deletedZones.values.map(\.sequence)).max() ?? 0
    var token = SyncToken(epoch: epoch, place: context.key, sequence: 0, floor: last)
    if let text = try request.string("syncToken") {
      token = try SyncToken(text, place: context.key, epoch: epoch)
    }
    let floor = max(token.floor, token.sequence)
    let changed = database.zones.values.filter { !$0.isDefault && $0.sequence > token.sequence }
      .map { (sequence: $0.sequence, json: ["zoneID": $0.id] as CloudValue) }
    let deleted = database.deletedZones.values.filter { $0.sequence > floor }
      .map { (sequence: $0.sequence, json: ["zoneID": $0.id, "deleted": true] as CloudValue) }
    let changes = (changed + deleted).sorted { $0.sequence < $1.sequence }
    let page = changes.prefix(limit)
    let isLast = page.count == changes.count
    token.sequence = isLast ? last : page.last?.sequence ?? token.sequence
    return [
      "zones": .array(page.map(\.json)), "syncToken": token.text,
      "moreComing": .boolean(!isLast),
    ]
  }

  /// The token of a zone without later changes.
  func syncToken(of zone: CloudZone, _ context: CloudContext) -> CloudValue {
    SyncToken(
      epoch: epoch, place: Self.place(of: zone, in: context), sequence: zone.sequence,
      floor: zone.sequence
    ).text
  }

  private static func place(of zone: CloudZone, in context: CloudContext) -> String {
    "\(context.key):\(zone.name):\(zone.creation)"
  }

  /// Only custom zones of private and shared databases have changes.
  private func checkHasCustomZones(_ context: CloudContext) throws {
    if context.database == "public" {
      throw CloudError.badRequest("the public database has no custom zones and so no changes")
    }
  }
}
