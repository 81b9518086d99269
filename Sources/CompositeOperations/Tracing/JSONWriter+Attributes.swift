extension JSONWriter {
  /// The value of an attribute of OpenTelemetry.
  enum AttributeValue: Sendable {
    case text(String)
    case texts([String])
    case integer(Int64)
    case number(Double)
  }

  /// A member that is a list of key-value pairs as OpenTelemetry writes it.
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

  /// A member that is an array of one object.
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
