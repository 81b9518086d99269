import CompositeOperations
import Foundation
import RecordOperations
import Testing

/// The exports of the article *Coming from FRCoreDataOperation*: columns across references,
/// transformed values and a custom formatter.
@Suite struct TravelExportTests {
  private struct HTMLFormatter: RecordFormatter {
    var fileExtension: String { "html" }

    func appendHeader(for columns: [String], to bytes: inout [UInt8]) {
      bytes += "<table>\n\(row(columns, of: "th"))\n".utf8
    }

    func append(_ values: [FieldValue], for columns: [String], to bytes: inout [UInt8]) throws {
      bytes += row(try values.map(text(of:)), of: "td").utf8
    }

    func appendFooter(for columns: [String], after count: Int, to bytes: inout [UInt8]) {
      bytes += count > 0 ? "\n</table>\n".utf8 : "</table>\n".utf8
    }

    private func row(_ texts: [String], of tag: String) -> String {
      let cells = texts.map { text in
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        return "<\(tag)>\(escaped)</\(tag)>"
      }
      return "<tr>\(cells.joined())</tr>"
    }
  }

  private let folder: TemporaryFolder
  private let database: SQLiteRecordDatabase

  init() async throws {
    folder = try TemporaryFolder()
    database = SQLiteRecordDatabase(folder.file("travels.sqlite"))
    _ = try await SaveRecords(Self.records, in: database).run().get()
  }

  private static var records: [DatabaseRecord] {
    func to(_ type: String, _ name: String) -> FieldValue {
      .reference(RecordReference(RecordID(type, name)))
    }
    return [
      record("europe", type: "Continent", ["name": "Europe"]),
      record("america", type: "Continent", ["name": "South America"]),
      record(
        "gb", type: "Country", ["name": "Great Britain", "continent": to("Continent", "europe")]),
      record(
        "ar", type: "Country", ["name": "Argentina", "continent": to("Continent", "america")]),
      record("ann", type: "Friend", ["name": "Ann \"Bo\" & Co"]),
      destination(
        "Cardiff", 3,
        [
          "country": to("Country", "gb"), "with": to("Friend", "ann"),
          "last": .date(Date(timeIntervalSince1970: 1_763_812_984.123)),
        ]),
      destination("Ushuaia", 1, ["country": to("Country", "ar"), "secret": "code, <4711>"]),
      destination("Bariloche", 3, ["country": to("Country", "ar"), "with": to("Friend", "gone")]),
      destination("Atlantis", 0, [:]),
      destination("The \"Ship\"\nat sea, somewhere", 2, ["with": to("Friend", "ann")]),
    ]
  }

  private static func destination(
    _ name: String, _ visits: FieldValue, _ fields: [String: FieldValue]
  ) -> DatabaseRecord {
    record(
      name.prefix(1).lowercased(), type: "Destination",
      fields.merging(["name": .string(name), "visits": visits]) { one, _ in one })
  }

  private func text(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }

  @Test func `columns across references are exported in sorted order`() async throws {
    let path = folder.file("destinations.csv")
    let export = ExportRecords(
      "Destination", in: database, where: Field("visits") > 0,
      sortedBy: [.descending("visits"), .ascending("name")],
      columns: ["name", "visits", "country.name", "country.continent.name", "with.name"],
      to: path, as: .csv)
    let file = try await export.run().get()
    #expect(
      try text(of: path) == """
        name,visits,country.name,country.continent.name,with.name
        Bariloche,3,Argentina,South America,
        Cardiff,3,Great Britain,Europe,"Ann ""Bo"" & Co"
        "The ""Ship""
        at sea, somewhere",2,,,"Ann ""Bo"" & Co"
        Ushuaia,1,Argentina,South America,

        """)
    #expect(file.recordCount == 4 && file.path == path)
    #expect(try file.byteCount == text(of: path).utf8.count)
  }

  @Test func `transformations replace values`() async throws {
    let path = folder.file("destinations.csv")
    let formatter = CSVFormatter(delimiter: .semicolon)
      .transforming(.date) { value, _ in
        guard case .date(let date) = value else { return value }
        return .string(date.formatted(.iso8601.year().month().day()))
      }
      .transforming(.null) { _, column in column == "last" ? "never" : .null }
    let export = ExportRecords(
      "Destination", in: database, sortedBy: [.ascending("name")],
      columns: ["name", "last", "with"],
      limit: 3, to: path, as: formatter)
    #expect(try await export.run().get().recordCount == 3)
    #expect(
      try text(of: path) == """
        name;last;with
        Atlantis;never;
        Bariloche;never;Friend/gone
        Cardiff;2025-11-22;Friend/ann

        """)
  }

  @Test func `a custom formatter determines the contents of the file`() async throws {
    let path = folder.file("destinations.html")
    func export(where predicate: RecordPredicate) async throws -> String {
      let export = ExportRecords(
        "Destination", in: database, where: predicate, sortedBy: [.ascending("name")],
        columns: ["name", "visits", "secret", "with.name"], to: path, as: HTMLFormatter())
      _ = try await export.run().get()
      return try text(of: path)
    }
    #expect(
      try await export(where: Field("name").isOne(of: ["Ushuaia", "Cardiff"])) == """
        <table>
        <tr><th>name</th><th>visits</th><th>secret</th><th>with.name</th></tr>
        <tr><td>Cardiff</td><td>3</td><td></td><td>Ann "Bo" &amp; Co</td></tr>
        <tr><td>Ushuaia</td><td>1</td><td>code, &lt;4711></td><td></td></tr>
        </table>

        """)
    #expect(
      try await export(where: Field("visits") > 9) == """
        <table>
        <tr><th>name</th><th>visits</th><th>secret</th><th>with.name</th></tr>
        </table>

        """)
    #expect(
      ExportRecords("Destination", in: database, as: HTMLFormatter()).path == "Destination.html")
  }

  @Test func `a failed export leaves the old file`() async throws {
    struct Secret: Error {}
    let path = folder.file("destinations.csv")
    try Data("old".utf8).write(to: URL(fileURLWithPath: path))
    let formatter = CSVFormatter().transforming(.string) { value, column in
      if column == "secret" { throw Secret() }
      return value
    }
    let export = ExportRecords("Destination", in: database, to: path, as: formatter)
    #expect(await export.run().error is Secret)
    #expect(try text(of: path) == "old")
    #expect(try folder.names.filter { $0.contains("destinations") } == ["destinations.csv"])
  }

  @Test func `a Core Data store is exported without being changed`() async throws {
    let store = folder.file("Travels.storedata")
    // Core Data stores relationships as numbers without a foreign key, and dates as seconds since
    // 2001.
    try execute(
      [
        "CREATE TABLE ZCOUNTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)",
        """
        CREATE TABLE ZDESTINATION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZVISITS INTEGER,
          ZCOUNTRY INTEGER, ZLAST TIMESTAMP, ZNAME VARCHAR)
        """, "CREATE INDEX Z_Destination_country ON ZDESTINATION (ZCOUNTRY)",
        "INSERT INTO ZCOUNTRY VALUES (1, 1, 1, 'Great Britain')",
        "INSERT INTO ZDESTINATION VALUES (1, 2, 1, 3, 1, 785505784.123, 'Cardiff')",
      ], in: store)
    let before = try Data(contentsOf: URL(fileURLWithPath: store))
    let database = SQLiteRecordDatabase(store, SQLiteOptions(access: .readOnly))
    let path = folder.file("destinations.csv")
    func export(_ columns: String...) async -> Outcome<ExportedFile> {
      await ExportRecords("ZDESTINATION", in: database, columns: columns, to: path, as: .csv).run()
    }
    #expect(await export("ZNAME", "ZVISITS", "ZCOUNTRY", "ZLAST").result?.recordCount == 1)
    #expect(
      try text(of: path) == "ZNAME,ZVISITS,ZCOUNTRY,ZLAST\nCardiff,3,1,785505784.123\n")
    let error = try #require(await export("ZCOUNTRY.ZNAME").error)
    #expect("\(error)".contains("not a reference"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
  }
}
