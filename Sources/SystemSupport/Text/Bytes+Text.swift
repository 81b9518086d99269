extension [UInt8] {
  /// Appends an integer in decimal digits.
  package mutating func appendNumber(_ number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var rest = number.magnitude
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var first = digits.count
    repeat {
      first -= 1
      digits[first] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    } while rest > 0
    append(digits.span.extracting(first...))
  }

  /// Appends a number as Swift prints it: with as many digits as are needed to read back the same
  /// number, and with `.0` if it is an integer.
  package mutating func appendNumber(_ number: Double) { self += number.description.utf8 }

  /// Appends bytes in padded base64, as specified by RFC 4648.
  package mutating func appendBase64(_ content: Span<UInt8>) {
    if content.isEmpty { return }
    append(addingCapacity: (content.count + 2) / 3 * 4) { output in
      var index = 0
      while index < content.count {
        let left = content.count - index
        let one = content[index]
        let two = left > 1 ? content[index + 1] : 0
        let three = left > 2 ? content[index + 2] : 0
        output.append(Self.base64[one >> 2])
        output.append(Self.base64[(one & 0b11) << 4 | two >> 4])
        output.append(left > 1 ? Self.base64[(two & 0b1111) << 2 | three >> 6] : Self.padding)
        output.append(left > 2 ? Self.base64[three & 0b11_1111] : Self.padding)
        index += 3
      }
    }
  }

  private static let padding = UInt8(ascii: "=")
  private static let base64 = Base64Digits()
}

private struct Base64Digits {
  private let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  subscript(value: UInt8) -> UInt8 { digits[Int(value)] }
}
