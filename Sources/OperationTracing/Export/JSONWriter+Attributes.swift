internal import SystemSupport

extension JSONWriter {
  /// An attribute value in OpenTelemetry's JSON encoding.
  enum AttributeValue: Sendable {
    case text(String)
    case texts([String])
    case integer(Int64)
    case number(Double)
  }

  /// Writes the member `attributes`: key-value pairs in OpenTelemetry's JSON encoding.
  mutating func attributes(_ attributes: [(key: String, value: AttributeValue)]) {
    name("attributes")
    array { json in
      for (key, value) in attributes {
        json.object { json in
          json.member("key", key)
          json.name("value")
          json.attribute(value)
        }
      }
    }
  }

  /// Writes a member whose value is an array with one object.
  mutating func objects(_ name: String, _ members: (inout JSONWriter) -> Void) {
    self.name(name)
    array { $0.object(members) }
  }

  private mutating func attribute(_ value: AttributeValue) {
    object { json in
      switch value {
      case .text(let text): json.member("stringValue", text)
      case .integer(let number): json.member("intValue", "\(number)")
      case .number(let number):
        json.name("doubleValue")
        json.number(number)
      case .texts(let texts):
        json.name("arrayValue")
        json.object { json in
          json.name("values")
          json.array { json in for text in texts { json.attribute(.text(text)) } }
        }
      }
    }
  }
}
