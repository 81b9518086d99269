extension CloudStore {
  func listZones(_ context: CloudContext) throws -> CloudValue {
    var zones = database(context).zones
    if context.database != "shared" {
      let name = CloudZone.defaultName
      zones[name] = try zone(CloudZoneID(nil), context)
    }
    return ["zones": .array(zones.values.sorted { $0.name < $1.name }.map { json($0, context) })]
  }

  func lookupZones(_ body: CloudValue, _ context: CloudContext) throws -> CloudValue {
    let request = try RequestObject(body, at: "request", keys: ["zones"])
    let zones = try request.required(
      "zones", try request.objects("zones", keys: CloudZoneID.keys))
    let items = try zones.map { object -> CloudValue in
      let id = try CloudZoneID(object)
      do { return json(try zone(id, context), context) } catch { return failure(of: id, error) }
    }
    return ["zones": .array(items)]
  }

  mutating func modifyZones(_ body: CloudValue, _ context: CloudContext) throws -> CloudValue {
    let request = try RequestObject(body, at: "request", keys: ["operations"])
    let operations = try request.required(
      "operations", try request.objects("operations", keys: ["operationType", "zone"]))
    guard context.database == "private" else {
      throw CloudError.badRequest("custom zones are possible in a private database only")
    }
    if operations.count > options.limits.operations {
      throw CloudError.badRequest(
        "\(operations.count) operations exceed the limit of \(options.limits.operations)")
    }
    // Parsed first: a deviation in one operation rejects the request.
    let parsed = try operations.map {
      let kind = try $0.required("operationType", try $0.string("operationType"))
      guard kind == "create" || kind == "delete" else {
        throw CloudError.badRequest("unknown operationType '\(kind)' of a zone")
      }
      let zone = try $0.required("zone", try $0.object("zone", keys: ["zoneID"]))
      let id = try zone.required("zoneID", try zone.object("zoneID", keys: CloudZoneID.keys))
      return (kind: kind, id: try CloudZoneID(id))
    }
    let items = parsed.map { kind, id -> CloudValue in
      do {
        if id.name == CloudZone.defaultName {
          throw CloudError.badRequest("the default zone cannot be created or deleted")
        }
        if kind == "delete" {
          let zone = try zone(id, context)
          databases[context.key]?.zones[id.name] = nil
          let sequence = nextSequence()
          databases[context.key]?.deletedZones[id.name] = (zone.id, sequence)
          return ["zoneID": zone.id, "deleted": true]
        }
        try CloudNames.checkRecordName(id.name, at: "zoneName")
        return json(createZone(id.name, owner: context.owner, in: context.key), context)
      } catch {
        return failure(of: id, error)
      }
    }
    return ["zones": .array(items)]
  }

  /// Returns a zone, and creates it if it does not exist.
  @discardableResult mutating func createZone(
    _ name: String, owner: String, in key: String
  ) -> CloudZone {
    if let zone = databases[key]?.zones[name] { return zone }
    let creation = name == CloudZone.defaultName ? 0 : nextSequence()
    let zone = CloudZone(name: name, owner: owner, creation: creation)
    databases[key, default: Database()].zones[name] = zone
    databases[key]?.deletedZones[name] = nil
    return zone
  }

  private func json(_ zone: CloudZone, _ context: CloudContext) -> CloudValue {
    var members: [String: CloudValue] = ["zoneID": zone.id, "atomic": .boolean(!zone.isDefault)]
    if !zone.isDefault { members["syncToken"] = syncToken(of: zone, context) }
    return .object(members)
  }

  private func failure(of id: CloudZoneID, _ error: any Error) -> CloudValue {
    let error = error as? CloudError ?? CloudError("INTERNAL_ERROR", "\(error)")
    var zoneID: [String: CloudValue] = ["zoneName": .string(id.name)]
    zoneID["ownerRecordName"] = id.owner.map(CloudValue.string)
    return .object(error.members.merging(["zoneID": .object(zoneID)]) { $1 })
  }
}
