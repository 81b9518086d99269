/// A name in a folder, or a whole path, in the bytes of the system. Those need not be UTF-8.
package struct FileName: Sendable {
  /// With the zero that ends it.
  package let bytes: [CChar]

  package init(_ text: String) { bytes = Array(text.utf8CString) }

  package init(_ bytes: some Collection<UInt8>) {
    self.bytes = bytes.map { CChar(bitPattern: $0) } + [0]
  }

  private var utf8: some Collection<UInt8> { bytes.dropLast().lazy.map { UInt8(bitPattern: $0) } }

  /// The name for people: what is not UTF-8 is replaced.
  package var text: String { String(decoding: utf8, as: UTF8.self) }

  /// The name itself; nil if it is not UTF-8.
  package var exactText: String? { String(validating: utf8, as: UTF8.self) }

  /// In the order of their bytes.
  package static func precedes(_ one: FileName, _ other: FileName) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}

extension String {
  /// A path without its last name, and that name. Nothing but the last separator is looked at: what `..` is, the
  /// system alone knows.
  package var splitPath: (folder: String, name: String) {
    guard let separator = utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("./", self) }
    // By bytes: a mark that is combined with the separator is part of the name.
    let name = utf8.index(after: separator)
    return (String(self[..<name]), String(self[name...]))
  }

  /// The path of what is in the folder that this one names.
  package func path(of name: String) -> String { hasSuffix("/") ? self + name : "\(self)/\(name)" }
}
