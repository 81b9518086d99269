/// The identifiers of a trace and of a span in it, as one program passes them to another.
///
/// The text is the header `traceparent` of
/// [W3C Trace Context](https://www.w3.org/TR/trace-context/#traceparent-header).
package struct TraceParent: Hashable, Sendable {
  /// The first 8 bytes of the identifier of the trace.
  private let high: UInt64
  /// The last 8 bytes of the identifier of the trace.
  private let low: UInt64
  package let spanID: SpanID

  /// The identifier of a span, which is not zero.
  package struct SpanID: Hashable, Sendable {
    fileprivate let number: UInt64

    package init() { number = .random(in: 1 ... .max) }

    /// - Parameter text: 16 hexadecimal digits.
    /// - Returns: Nil if the text is no identifier of a span.
    package init?(_ text: some StringProtocol) {
      guard let number = UInt64(digits: text), number != 0 else { return nil }
      self.number = number
    }

    /// 16 hexadecimal digits.
    package var text: String { number.hexadecimalDigits }
  }

  private init(high: UInt64, low: UInt64, spanID: SpanID) {
    self.high = high
    self.low = low
    self.spanID = spanID
  }

  /// Creates random identifiers for a new trace.
  package init() {
    // The low half is never zero, so the identifier is valid.
    self.init(high: .random(in: 0 ... .max), low: .random(in: 1 ... .max), spanID: SpanID())
  }

  /// Parses the text of a header.
  ///
  /// A text of a later version may continue after the flags. The flags are ignored, because this
  /// package exports every span.
  ///
  /// - Returns: Nil if the text is invalid.
  package init?(_ text: String) {
    let fields = text.split(separator: "-", omittingEmptySubsequences: false)
    guard fields.count >= 4, fields[0].utf8.count == 2, fields[0] != "ff",
      let version = UInt8(digits: fields[0]), version > 0 || fields.count == 4,
      fields[1].utf8.count == 32, let high = UInt64(digits: fields[1].prefix(16)),
      let low = UInt64(digits: fields[1].suffix(16)), high != 0 || low != 0,
      let spanID = SpanID(fields[2]), fields[3].utf8.count == 2, UInt8(digits: fields[3]) != nil
    else { return nil }
    self.init(high: high, low: low, spanID: spanID)
  }

  /// The identifier of the trace: 32 hexadecimal digits.
  package var traceID: String { high.hexadecimalDigits + low.hexadecimalDigits }

  /// The text of the header, with the flag "sampled".
  package var text: String { "00-\(traceID)-\(spanID.text)-01" }

  /// Creates a random identifier for a new span in the trace.
  package func withNewSpan() -> TraceParent {
    TraceParent(high: high, low: low, spanID: SpanID())
  }
}

extension FixedWidthInteger {
  /// - Parameter digits: Two hexadecimal digits in lower case for each byte.
  fileprivate init?(digits: some StringProtocol) {
    let isValid = digits.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    guard isValid, digits.utf8.count == Self.bitWidth / 4 else { return nil }
    self.init(digits, radix: 16)
  }
}

extension UInt64 {
  /// The number in 16 hexadecimal digits.
  package var hexadecimalDigits: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
