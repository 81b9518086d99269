/// The keys of an object, told apart byte by byte: `String` takes some for the same that are not.
struct JSONKeys {
  private var few: [String] = []
  private var many: Set<[UInt8]> = []

  /// - Returns: Whether it was not there.
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
