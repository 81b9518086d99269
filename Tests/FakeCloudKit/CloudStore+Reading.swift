extension CloudStore {
  mutating func query(_ body: CloudValue, _ context: CloudContext) throws -> CloudValue {
    let request = try RequestObject(
      body, at: "request",
      keys: [
        "query", "zoneID", "zoneWide", "resultsLimit", "continuationMarker", "desiredKeys",
        "numbersAsStrings",
      ])
    let limit = try request.resultsLimit(atMost: options.limits.recordsPerResponse)
    let format = CloudRecordFormat(
      desiredKeys: try request.strings("desiredKeys"),
      numbersAsStrings: try request.boolean("numbersAsStrings") ?? false)
    // A marker belongs to one query in the same zones of the same database.
    let identity: CloudValue = [
      "query": request["query"] ?? .null, "zoneID": request["zoneID"] ?? .null,
      "zoneWide": request["zoneWide"] ?? .null, "database": .string(context.key),
    ]
    var marker: Marker
    if let text = try request.string("continuationMarker") {
      guard let known = markers[text], known.request == identity else {
        throw CloudError.badRequest("'continuationMarker' does not belong to this query")
      }
      marker = known
    } else {
      let results = try results(of: request, context)
      marker = Marker(request: identity, results: results, offset: 0)
    }
    let end = min(marker.offset + limit, marker.results.count)
    let zones = databases[context.key]?.zones
    let records = marker.results[marker.offset..<end].compactMap {
      zones?[$0.zone]?.records[$0.record].map(format.json)
    }
    var response: [String: CloudValue] = ["records": .array(records)]
    if end < marker.results.count {
      marker.offset = end
      // Not derived from the offset, so that a client cannot compute it.
      let text = "marker+\(nextSequence())/="
      markers[text] = marker
      response["continuationMarker"] = .string(text)
    }
    return .object(response)
  }

  private func results(
    of request: RequestObject, _ context: CloudContext
  ) throws -> [(zone: String, record: String)] {
    let query = try request.required(
      "query", try request.object("query", keys: ["recordType", "filterBy", "sortBy"]))
    let type = try query.required("recordType", try query.string("recordType"))
    guard let fields = schema[type] else {
      let reason = "did not find record type: \(type)"
      throw environment == "production"
        ? CloudError("NOT_FOUND", reason) : CloudError.badRequest(reason)
    }
    let filterKeys: Set = ["comparator", "fieldName", "systemFieldName", "fieldValue"]
    let filters = try query.objects("filterBy", keys: filterKeys)?.map {
      try CloudFilter($0, recordType: type, schema: fields)
    }
    let sortKeys: Set = ["fieldName", "systemFieldName", "ascending"]
    let orders = try query.objects("sortBy", keys: sortKeys)?.map {
      (
        field: try CloudQueryField($0, recordType: type, schema: fields),
        isAscending: try $0.boolean("ascending") ?? true
      )
    }
    let id = try request.object("zoneID", keys: CloudZoneID.keys)
    let isZoneWide = try request.boolean("zoneWide") ?? false && id == nil
    let zones =
      isZoneWide
      ? database(context).zones.values.sorted { $0.name < $1.name }
      : [try zone(try CloudZoneID(id), context)]
    let records = zones.flatMap { zone in
      zone.records.values.filter { record in
        record.type == type && (filters ?? []).allSatisfy { $0.matches(record) }
      }.map { (zone: zone.name, record: $0) }
    }
    return records.sorted { a, b in
      for order in orders ?? [] {
        let (first, second) = (order.field.value(in: a.record), order.field.value(in: b.record))
        if first == second { continue }
        // Assumption: records without the field are the first in ascending order.
        guard let first, let second else { return (first == nil) == order.isAscending }
        if CloudQueryField.isLess(first, second) ?? false { return order.isAscending }
        if CloudQueryField.isLess(second, first) ?? false { return !order.isAscending }
      }
      return (a.zone, a.record.name) < (b.zone, b.record.name)
    }.map { (zone: $0.zone, record: $0.record.name) }
  }

  func lookup(_ body: CloudValue, _ context: CloudContext) throws -> CloudValue {
    let request = try RequestObject(
      body, at: "request", keys: ["records", "zoneID", "desiredKeys", "numbersAsStrings"])
    let objects = try request.required(
      "records", try request.objects("records", keys: ["recordName", "desiredKeys"]))
    if objects.count > options.limits.recordsPerResponse {
      throw CloudError.badRequest(
        "\(objects.count) records exceed the limit of \(options.limits.recordsPerResponse)")
    }
    let zone = try zone(
      try CloudZoneID(try request.object("zoneID", keys: CloudZoneID.keys)), context)
    let keys = try request.strings("desiredKeys")
    let numbersAsStrings = try request.boolean("numbersAsStrings") ?? false
    let items = try objects.map { object -> CloudValue in
      let name = try object.required("recordName", try object.string("recordName"))
      let format = CloudRecordFormat(
        desiredKeys: try object.strings("desiredKeys") ?? keys, numbersAsStrings: numbersAsStrings)
      if let code = context.failures[name] {
        return Self.failure(of: name, CloudError.injected(code))
      }
      guard let record = zone.records[name] else {
        return Self.failure(of: name, CloudError("NOT_FOUND", "did not find record '\(name)'"))
      }
      return format.json(record)
    }
    return ["records": .array(items)]
  }
}
