import Foundation

/// A request in OpenTelemetry's protocol, decoded by code that is independent of the encoder.
struct OpenTelemetryRequest: Decodable {
  struct ResourceSpans: Decodable {
    let resource: Resource
    let scopeSpans: [ScopeSpans]
  }

  struct Resource: Decodable {
    let attributes: [Attribute]
  }

  struct ScopeSpans: Decodable {
    let scope: Scope
    let spans: [Span]
  }

  struct Scope: Decodable {
    let name: String
    let version: String
  }

  struct Span: Decodable {
    let traceId: String
    let spanId: String
    var parentSpanId: String?
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    var attributes: [Attribute] = []
    var events: [Event]?
    var status: Status?

    subscript(_ key: String) -> String? {
      attributes.first { $0.key == key }?.value.text
    }
  }

  struct Event: Decodable {
    let timeUnixNano: String
    let name: String
    var attributes: [Attribute]?
  }

  struct Status: Decodable {
    var code: Int?
    var message: String?
  }

  struct Attribute: Decodable {
    let key: String
    let value: Value
  }

  /// A number, or the text of one that JSON does not have.
  struct Number: Decodable {
    let value: Double

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let text = try? container.decode(String.self) {
        guard let named = ["Infinity": Double.infinity, "-Infinity": -.infinity, "NaN": .nan][text]
        else { throw TestError("not a number: \(text)") }
        value = named
      } else {
        value = try container.decode(Double.self)
      }
    }
  }

  struct Value: Decodable {
    struct List: Decodable { let values: [Value] }
    var stringValue: String?
    var intValue: String?
    var doubleValue: Number?
    var boolValue: Bool?
    var arrayValue: List?

    var text: String? {
      stringValue ?? intValue ?? doubleValue.map { "\($0.value)" } ?? boolValue.map { "\($0)" }
        ?? arrayValue?.values.compactMap(\.text).joined(separator: ", ")
    }
  }

  let resourceSpans: [ResourceSpans]

  init(_ text: some StringProtocol) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
  }

  var spans: [Span] { resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans) }
}
