/// A server-sent event (WHATWG HTML, 9.2).
package struct EventMessage: Sendable, Hashable {
  /// The type of the event; empty for the default type, "message".
  package let name: String
  /// The data. Each line is sent in a field of its own.
  package let data: String

  package init(_ name: String = "", data: String) { (self.name, self.data) = (name, data) }

  /// The event in the format of the stream. The name ends at the first line break, so that it
  /// cannot begin another field.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    // Scalars, because "\r\n" is one character.
    let name = name.unicodeScalars.prefix { $0 != "\r" && $0 != "\n" && $0 != "\0" }
    if !name.isEmpty { bytes += Array("event: \(String(name))\n".utf8) }
    guard data.utf8.contains(0x0A) || data.utf8.contains(0x0D) else {
      return bytes + Array("data: ".utf8) + Array(data.utf8) + [0x0A, 0x0A]
    }
    var line: [UInt8] = []
    var isAfterReturn = false
    for byte in data.utf8 {
      switch byte {
      case 0x0A where isAfterReturn: break
      case 0x0A, 0x0D:
        bytes += Array("data: ".utf8) + line + [0x0A]
        line = []
      default: line.append(byte)
      }
      isAfterReturn = byte == 0x0D
    }
    return bytes + Array("data: ".utf8) + line + [0x0A, 0x0A]
  }
}
