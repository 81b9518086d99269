import Foundation
import RecordOperations
import Testing

@Suite struct RecordConvertibleTests {
  struct Book: Codable, Identifiable, RecordConvertible, Equatable {
    enum Binding: String, Codable { case hardback, paperback }

    let id: String
    var title: String
    var pages: Int
    var price: Double
    var isLent: Bool
    var bought: Date
    var cover: Data
    var author: RecordReference
    var tags: [String]
    var binding: Binding
    var bindings: [Binding]
    var link: URL
    var edition: UInt64
    var cost: Decimal
    var weight: Float?
    var lent: Date?
    var note: String?
    var shelf: UUID?
  }

  static let book = Book(
    id: "9780141439600", title: "Persuasion", pages: 249, price: 7.5, isLent: true,
    bought: Date(timeIntervalSince1970: 1_700_000_000.123), cover: Data([0, 1, 255]),
    author: RecordReference(RecordID("Author", "Austen"), onDelete: .deny),
    tags: ["novel", "bath"], binding: .paperback, bindings: [.hardback, .paperback],
    link: URL(fileURLWithPath: "/books"), edition: 1 << 62,
    cost: Decimal(string: "0.1") ?? 0, weight: nil, lent: nil, note: "",
    shelf: nil)

  @Test func `an empty array becomes an empty list, unless its elements are bytes`() throws {
    #expect(try [String]().fieldValue == .list([]))
    #expect(try [String?]().fieldValue == .list([]))
    #expect(try [UInt8]().fieldValue == .bytes([]))
    #expect(try [UInt8](fieldValue: .bytes([1])) == [1] && [1, 2].fieldValue == [1, 2])
  }

  @Test func `the description of a record shows its name, tag and sorted fields`() {
    var book = DatabaseRecord(RecordID("Book", "1"), fields: ["pages": 474], tag: RecordTag("3"))
    book["title"] = "Emma"
    book["tags"] = ["a", nil, 1.5]
    book["by"] = .reference(RecordReference(RecordID("Author", "2")))
    #expect(
      "\(book)"
        == #"Book/1 (tag 3) {by: Author/2, pages: 474, tags: ["a", null, 1.5], title: "Emma"}"#)
  }

  @Test func `a Codable value becomes a record and back`() throws {
    let record = try Self.book.record()
    #expect(record.id == RecordID("Book", "9780141439600"))
    #expect(record.tag == nil)
    #expect(!record.has("id"))
    #expect(record["title"] == "Persuasion")
    #expect(record["pages"] == 249)
    #expect(record["price"] == 7.5)
    #expect(record["isLent"] == true)
    #expect(record["bought"] == .date(Self.book.bought))
    #expect(record["cover"] == .bytes([0, 1, 255]))
    #expect(record["author"] == .reference(Self.book.author))
    #expect(record["tags"] == ["novel", "bath"])
    #expect(record["binding"] == "paperback")
    #expect(record["bindings"] == ["hardback", "paperback"])
    #expect(record["note"] == "")
    #expect(record["link"] == "file:///books")
    #expect(record["cost"] == "0.1")
    #expect(try Book(record) == Self.book)
  }

  @Test func `a nil property becomes a null field, and a missing field becomes nil`() throws {
    let record = try Self.book.record()
    for key in ["weight", "lent", "shelf"] {
      #expect(record.has(key), "\(key)")
      #expect(record[key] == .null, "\(key)")
    }
    #expect(record.changedKeys == Set(record.keys))
    // A database need not return nulls.
    let fields = record.fields.filter { $0.value != .null }
    let read = DatabaseRecord(record.id, fields: fields, tag: RecordTag("1"))
    #expect(try Book(read) == Self.book)
  }

  @Test func `an update changes only the fields that differ`() throws {
    let record = try Self.book.record()
    let read = DatabaseRecord(record.id, fields: record.fields, tag: RecordTag("1"))
    var book = Self.book
    #expect(try book.updating(read).changedKeys.isEmpty)
    book.pages = 250
    book.title = "Persuasion\u{e9}"
    book.tags = []
    let updated = try book.updating(read)
    #expect(updated.changedKeys == ["pages", "tags", "title"])
    #expect(updated.tag == RecordTag("1"))
  }

  struct Numbered: Codable, Identifiable, RecordConvertible {
    let id: Int
    var text: String
  }

  struct Unique: Codable, Identifiable, RecordConvertible {
    let id: UUID
  }

  /// An `id` that is not the record name.
  struct Plain: Codable, RecordConvertible {
    var recordName: String { "only" }
    var id: Int
  }

  @Test func `the record name comes from an integer id, a UUID or recordName`() throws {
    let numbered = try Numbered(id: -7, text: "7").record()
    #expect(numbered.id.name == "-7")
    #expect(try Numbered(numbered).id == -7)
    #expect(throws: FieldValueError.self) { try Numbered(DatabaseRecord("Numbered", "007")) }
    let unique = try Unique(id: UUID()).record()
    #expect(unique.id.name == unique.id.name.lowercased())
    #expect(try Unique(unique).record().id == unique.id)
    let plain = try Plain(id: 3).record()
    #expect(plain["id"] == 3)
    #expect(try Plain(plain).id == 3)
  }

  struct Large: Codable, RecordConvertible {
    var recordName: String { "n" }
    var number = UInt64.max
  }

  /// Encodes a property by a container of the record itself.
  struct Manual: Codable, RecordConvertible {
    enum Key: String, CodingKey { case inner }
    var recordName: String { "n" }
    init() {}
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      _ = try container.nestedContainer(keyedBy: Key.self, forKey: .inner)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      _ = container.nestedContainer(keyedBy: Key.self, forKey: .inner)
    }
  }

  @Test func `a value that no field can hold is refused with its location`() throws {
    for (value, place) in [
      (Large(), "the field number of Large/n"), (Manual(), "Manual/n encodes the field inner"),
      (
        Person(home: Address(street: "s", since: Date(timeIntervalSince1970: 1e12))),
        "the field home of Person/n has a date"
      ),
    ] as [(any RecordConvertible, String)] {
      let error = #expect(throws: (any Error).self) { try value.record() }
      #expect("\(error as Any)".contains(place), "\(error as Any)")
    }
    let error = #expect(throws: (any Error).self) { try Manual(DatabaseRecord("Manual", "n")) }
    #expect("\(error as Any)".contains("Manual/n decodes the field inner"))
  }

  struct Address: Codable, Equatable {
    var street: String
    var zip: Int?
    var since: Date?
  }
  enum Contact: Codable, Equatable {
    case mail(String)
    case phone(country: Int, number: String)
    case none
  }
  struct Person: Codable, Equatable, RecordConvertible {
    var recordName: String { "n" }
    var home: Address
    var former: [Address?] = []
    var second: Address?
    var ages: [String: Int] = [:]
    var matrix: [[Int]] = []
    var contacts: [Contact] = []
  }

  @Test func `D8: a property with properties of its own is JSON in its field`() throws {
    let address = Address(street: "a/\"b\"", zip: nil, since: Date(timeIntervalSince1970: 0.25))
    var person = Person(home: address)
    var record = try person.record()
    #expect(record["home"] == #"{"since":"1970-01-01T00:00:00.250Z","street":"a/\"b\""}"#)
    #expect(record["second"] == .null)
    // Lists stay lists, so that a column has one type.
    #expect(record["former"] == .list([]) && record["matrix"] == .list([]))
    #expect(record["ages"] == "{}")
    #expect(try Person(record) == person)
    person.former = [address, nil]
    person.second = Address(street: "", zip: 7)
    person.ages = ["b": 2, "a": 1]
    person.matrix = [[1, 2], []]
    person.contacts = [.none, .mail("m"), .phone(country: 49, number: "1")]
    record = try person.record()
    #expect(record["ages"] == #"{"a":1,"b":2}"#)
    #expect(record["matrix"] == ["[1,2]", "[]"])
    #expect(record["former"] == [record["home"], .null])
    #expect(try Person(record) == person)
    #expect(try person.updating(record) == record)
    // As another program may have written it.
    record["matrix"] = #"["[3]"]"#
    record["home"] = #"{ "zip": 7, "street": "s", "since": "2026-01-02", "more": [] }"#
    #expect(try Person(record).matrix == [[3]])
    #expect(try Person(record).home.since == Date(timeIntervalSince1970: 1_767_312_000))
  }

  @Test(
    arguments: [
      (
        #"{"zip":1}"#, "the field home of Person/n is not the JSON of a Address: street is missing."
      ),
      (#"{"street":1}"#, "Address: street is not of type String"),
      (#"{"street":"s","since":"soon"}"#, #""soon" is not a date in ISO 8601"#),
      ("street", "Address: it is malformed"),
      (7, "the field home of Person/n is 7; expected the JSON"),
      (.null, "the field home of Person/n is null; expected the JSON of a Address"),
    ] as [(FieldValue, String)])
  func `D8: JSON that does not fit is an error that names field and place`(
    value: FieldValue, text: String
  ) throws {
    var record = try Person(home: Address(street: "s")).record()
    record["home"] = value
    let error = #expect(throws: (any Error).self) { try Person(record) }
    #expect("\(error as Any)".contains(text), "\(error as Any)")
  }

  @Test(
    arguments: [
      ("title", .integer(1), "the field title of Book/9780141439600 is 1; expected"),
      ("title", .null, "is null; expected a value of type String"),
      ("pages", "many", #"is "many"; expected a value of type Int"#),
      ("pages", 2.5, "is 2.5; expected"), ("isLent", 2, "is 2; expected a value of type Bool"),
      ("bought", "soon", "expected a value of type Date"), ("edition", -1, "is -1; expected"),
      ("binding", "loose", "loose"), ("tags", "novel", "; expected"),
      ("shelf", "here", "expected a value of type UUID"),
      ("cover", "x", "expected a value of type Data"),
    ] as [(String, FieldValue, String)])
  func `decoding a field of another kind throws an error that names the field`(
    key: String, value: FieldValue, text: String
  ) throws {
    var record = try Self.book.record()
    record[key] = value
    let error = #expect(throws: (any Error).self) { try Book(record) }
    #expect("\(error as Any)".contains(text), "\(error as Any)")
  }

  struct Money: FieldConvertible, Codable, Equatable {
    var cents: Int
    init(cents: Int) { self.cents = cents }
    init(fieldValue: FieldValue) throws { cents = try Int(fieldValue: fieldValue) }
    var fieldValue: FieldValue { get throws { try cents.fieldValue } }
  }
  struct Priced: Codable, RecordConvertible {
    var recordName: String { "p" }
    var price: Money
    var offers: [Money]
  }

  @Test func `a FieldConvertible type determines its field value`() throws {
    let record = try Priced(price: Money(cents: 5), offers: [Money(cents: 4)]).record()
    #expect(record["price"] == 5)
    #expect(record["offers"] == [4])
    #expect(try Priced(record).offers == [Money(cents: 4)])
  }

  @Test func `a field value is converted to the requested type`() throws {
    var record = DatabaseRecord("Book", "1")
    record["pages"] = 249
    record["day"] = .date(Date(timeIntervalSince1970: 0.123_456))
    #expect(try record.value("pages", as: UInt8.self) == 249)
    #expect(try record.value("pages", as: Double.self) == 249)
    #expect(try record.value("none", as: Int?.self) == nil)
    #expect(try record.value("day", as: Date.self) == Date(timeIntervalSince1970: 0.123))
    #expect(throws: FieldValueError.self) { try record.value("pages", as: Int8.self) }
  }
}
