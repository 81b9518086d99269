/// Separate permits for each key, such as four connections for each host.
///
/// ```swift
/// let connections = KeyedPermits<String>(4, name: "connections")
///
/// let pages = ParallelOperation(
///   urls.map { url in FetchPage(url).limited(by: connections[url.host() ?? ""]) })
/// ```
///
/// `connections[key]` returns ``Permits``, the same for equal keys. All rules of permits hold: for
/// each key, they are granted in FIFO order, a cancellation ends the wait, and deadlocks are
/// detected.
///
/// A key takes memory only while its permits are in use: while an operation with these permits
/// exists, waits or runs. The next use of the key makes new permits, all of which are free. So the
/// number of different keys need not be limited.
public final class KeyedPermits<Key: Hashable & Sendable>: Sendable {
  /// The name in events and errors, followed by the key: `connections[example.org]`.
  public let name: String

  private let count: @Sendable (Key) -> Int
  private let table = Lock(Table())

  /// Creates permits with the same number for each key.
  ///
  /// - Parameters:
  ///   - count: The number of permits for each key.
  ///   - name: The name in events and errors.
  /// - Precondition: `count` is at least 1.
  public convenience init(_ count: Int, name: String = "permits") {
    precondition(count >= 1, "`count` must be at least 1 (was \(count))")
    self.init(name: name) { _ in count }
  }

  /// Creates permits whose number depends on the key.
  ///
  /// ```swift
  /// let connections = KeyedPermits<String>(name: "connections") { host in
  ///   host == "localhost" ? 16 : 4
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name in events and errors.
  ///   - count: Returns the number of permits for a key, at least 1. Called when the permits of a
  ///     key come into use, and not again while they are in use. Threads that bring a key into use
  ///     at the same time may each call it, so it must return the same number every time.
  public init(name: String = "permits", count: @escaping @Sendable (Key) -> Int) {
    self.name = name
    self.count = count
  }

  /// The number of keys whose permits are in use.
  public var keyCount: Int { table.withLock(\.count) }

  /// The permits for a key.
  ///
  /// - Parameter key: The key. Equal keys share their permits.
  /// - Precondition: The number of permits for the key is at least 1.
  public subscript(key: Key) -> Permits {
    let hash = key.hashValue
    while true {
      let known = table.withLock { $0.asked(for: hash) }
      // Keys are compared, and permits are retained, without the lock: both can run user code.
      for entry in known.entries where entry.key == key {
        if let permits = entry.permits { return permits }
      }
      let permits = makePermits(for: key, Use(key, hash: hash, number: known.next, in: self))
      let entry = Table.Entry(number: known.next, key: key, permits: permits)
      if table.withLock({ $0.added(entry, for: hash, after: known.entries.last?.number) }) {
        return permits
      }
      // Another thread has changed the entries meanwhile.
    }
  }

  private func makePermits(for key: Key, _ use: Use) -> Permits {
    let count = count(key)
    precondition(count >= 1, "the count for '\(key)' must be at least 1 (was \(count))")
    return Permits(count, naming: { use.name })
  }

  /// Removes the entry of a key when its permits are no longer in use.
  ///
  /// Only the permits refer to it, so it is freed with them.
  private final class Use: Sendable {
    private let key: Key
    private let hash: Int
    private let number: Int
    private let owner: KeyedPermits

    init(_ key: Key, hash: Int, number: Int, in owner: KeyedPermits) {
      self.key = key
      self.hash = hash
      self.number = number
      self.owner = owner
    }

    var name: String { "\(owner.name)[\(key)]" }

    // The key is freed after this, without the lock.
    deinit { owner.table.withLock { $0.remove(number, for: hash) } }
  }
}

extension KeyedPermits {
  /// The permits in use by the hash values of their keys.
  ///
  /// Keys are neither hashed nor compared here, because that is user code. Nor are permits
  /// retained: this could be the last reference, which must not be released under the lock.
  private struct Table: Sendable {
    struct Entry: Sendable {
      let number: Int
      let key: Key
      /// Nil while the permits are being freed.
      private(set) weak var permits: Permits?

      init(number: Int, key: Key, permits: Permits) {
        self.number = number
        self.key = key
        self.permits = permits
      }
    }

    private(set) var count = 0
    private var entries: [Int: [Entry]] = [:]
    private var lastNumber = 0

    /// Returns the entries of a hash value, and the number for the next one.
    mutating func asked(for hash: Int) -> (entries: [Entry], next: Int) {
      lastNumber += 1
      return (entries[hash] ?? [], lastNumber)
    }

    /// Adds an entry if the last entry of the hash value is still the given one.
    ///
    /// - Returns: Whether the entry was added.
    mutating func added(_ entry: Entry, for hash: Int, after last: Int?) -> Bool {
      guard entries[hash]?.last?.number == last else { return false }
      entries[hash, default: []].append(entry)
      count += 1
      return true
    }

    /// Removes an entry, if it was added. The caller still has its key.
    mutating func remove(_ number: Int, for hash: Int) {
      guard let index = entries[hash]?.firstIndex(where: { $0.number == number }) else { return }
      count -= 1
      entries[hash]?.remove(at: index)
      if entries[hash]?.isEmpty == true { entries[hash] = nil }
    }
  }
}
