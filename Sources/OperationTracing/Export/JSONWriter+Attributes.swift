internal import CompositeOperations
internal import SystemSupport

extension JSONWriter {
  /// Writes the member `attributes`: key-value pairs in OpenTelemetry's JSON encoding.
  mutating func attributes(_ attributes: [(key: String, value: OperationAttribute)]) {
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

  /// Writes a number. One that is not finite is a text, as in the JSON of protocol buffers:
  /// `Infinity`, `-Infinity` or `NaN`.
  mutating func numberOrText(_ number: Double) {
    if number.isFinite { return self.number(number) }
    string(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
  }

  private mutating func attribute(_ value: OperationAttribute) {
    object { json in
      switch value {
      case .text(let text): json.member("stringValue", text)
      case .integer(let number): json.member("intValue", "\(number)")
      case .number(let number):
        json.name("doubleValue")
        json.numberOrText(number)
      case .flag(let flag):
        json.name("boolValue")
        json.literal("\(flag)")
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
