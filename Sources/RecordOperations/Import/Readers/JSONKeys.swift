/// The keys of an object, compared byte by byte: `String` considers some different keys equal.
struct JSONKeys {
  private var few: [String] = []
  private var many: Set<[UInt8]> = []

  /// - Returns: Whether the key was inserted, and not already present.
  mutating func insert(_ key: String) -> Bool {
    if many.isEmpty, few.count < 32 {
      let count = key.utf8.count
      if few.contains(where: { $0.utf8.count == count && $0.utf8.elementsEqual(key.utf8) }) {
        return false
      }
      few.append(key)
      return true
    }
    if many.isEmpty { many = Set(few.map { Array($0.utf8) }) }
    return many.insert(Array(key.utf8)).inserted
  }
}
