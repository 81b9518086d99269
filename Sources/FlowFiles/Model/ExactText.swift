internal import SystemSupport

/// A text that is compared byte by byte, as the system compares names of files.
///
/// Two strings are equal if they are the same characters, so names in NFC and in NFD would be one key.
package struct ExactText: Hashable, Comparable, Sendable {
  let text: String

  package init(_ text: String) { self.text = text }

  package static func == (one: ExactText, other: ExactText) -> Bool {
    one.text.hasSameBytes(as: other.text)
  }

  package static func < (one: ExactText, other: ExactText) -> Bool {
    one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
