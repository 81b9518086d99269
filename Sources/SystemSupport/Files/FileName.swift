/// A name in a folder, or a whole path, in the bytes of the system, which need not be UTF-8.
package struct FileName: Hashable, Sendable {
  /// The bytes with the zero that terminates them.
  package let bytes: [CChar]

  package init(_ text: String) { bytes = Array(text.utf8CString) }

  package init(_ bytes: [UInt8]) {
    var terminated: [CChar] = []
    terminated.reserveCapacity(bytes.count + 1)
    for byte in bytes { terminated.append(CChar(bitPattern: byte)) }
    terminated.append(0)
    self.bytes = terminated
  }

  /// - Parameter bytes: The bytes with the zero that terminates them.
  init(terminated bytes: [CChar]) { self.bytes = bytes }

  /// The bytes without the zero that terminates them.
  package var utf8: some Collection<UInt8> { bytes.dropLast().lazy.map { UInt8(bitPattern: $0) } }

  /// The name for display. Bytes that are not UTF-8 are replaced.
  package var text: String { String(decoding: utf8, as: UTF8.self) }

  /// The exact name; nil if it is not UTF-8.
  package var exactText: String? { String(validating: utf8, as: UTF8.self) }

  /// Returns whether a name precedes another one, by the order of their bytes.
  package static func precedes(_ one: FileName, _ other: FileName) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}

extension String {
  /// The path without its last name, and that name. The path is split at its last separator without
  /// resolving `..`, which only the system can do.
  package var splitPath: (folder: String, name: String) {
    guard let separator = utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("./", self) }
    // By bytes, because a mark that is combined with the separator is part of the name.
    let name = utf8.index(after: separator)
    return (String(self[..<name]), String(self[name...]))
  }

  /// Returns the path of an item in the folder at this path.
  package func path(of name: String) -> String { hasSuffix("/") ? self + name : "\(self)/\(name)" }
}
