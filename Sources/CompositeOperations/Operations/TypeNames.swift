internal import Synchronization

/// The names of types, each of which is computed once.
///
/// The name of a type takes about 300 instructions, and every observed run of an operation without
/// a name of its own needs it. The table does not grow: if there is no place for a type, its name is
/// computed each time.
@safe enum TypeNames {
  private struct Entry {
    let type: ObjectIdentifier
    let name: String
  }

  private typealias Place = Atomic<UnsafePointer<Entry>?>

  private static let size = 1_024
  /// How many places are tried for a type.
  private static let attempts = 4

  // Raw memory, which is never freed: all threads would retain and release a reference.
  private nonisolated(unsafe) static let places: UnsafeMutablePointer<Place> = {
    let places = UnsafeMutablePointer<Place>.allocate(capacity: size)
    for index in 0..<size { unsafe (places + index).initialize(to: Place(nil)) }
    return unsafe places
  }()

  /// Returns the name of a type as in `"\(type)"`.
  static func name(of type: Any.Type) -> String {
    let key = ObjectIdentifier(type)
    // Type metadata is aligned to eight bytes.
    let first = Int(bitPattern: key) >> 3
    for attempt in 0..<attempts {
      let place = (first &+ attempt) & (size - 1)
      if let entry = unsafe places[place].load(ordering: .acquiring) {
        if unsafe entry.pointee.type == key { return unsafe entry.pointee.name }
      } else {
        return add(Entry(type: key, name: "\(type)"), at: place)
      }
    }
    return "\(type)"
  }

  /// Adds an entry unless another thread has used the place.
  ///
  /// - Returns: The name in the entry.
  private static func add(_ entry: Entry, at place: Int) -> String {
    let new = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
    unsafe new.initialize(to: entry)
    let isAdded = unsafe places[place].compareExchange(
      expected: nil, desired: UnsafePointer(new), ordering: .acquiringAndReleasing
    ).exchanged
    if !isAdded {
      unsafe new.deinitialize(count: 1)
      unsafe new.deallocate()
    }
    return entry.name
  }
}
