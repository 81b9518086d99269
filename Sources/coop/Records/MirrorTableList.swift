/// The tables of two databases, for a mirror of all of them.
struct MirrorTableList: Sendable {
  /// The sorted names of the tables that can be mirrored.
  let mirrored: [String]
  /// The tables of the remote database that can be mirrored.
  let remote: Set<String>
  /// A line for each table that cannot be mirrored.
  let leftOut: [String]

  /// - Parameters:
  ///   - local: Why each local table cannot be mirrored: nil for each one that can.
  ///   - remote: As `local`, of the remote database.
  ///   - names: The names of the databases.
  init(
    local: [String: String?], remote: [String: String?], _ names: (local: String, remote: String)
  ) {
    func usable(_ tables: [String: String?]) -> Set<String> {
      Set(tables.filter { $0.value == nil }.keys)
    }
    func lines(_ tables: [String: String?], of database: String) -> [String] {
      tables.compactMapValues(\.self).sorted { $0.key < $1.key }
        .map { "\($0.key) of \(database) is left out: \($0.value)" }
    }
    self.remote = usable(remote)
    leftOut = lines(local, of: names.local) + lines(remote, of: names.remote)
    let problems = [local, remote].flatMap { $0.compactMapValues(\.self).keys }
    mirrored = usable(local).union(usable(remote)).subtracting(problems).sorted()
  }

  /// Returns a line for each table that is not in an earlier list.
  func news(since earlier: Self) -> [String] {
    let new = Set(mirrored).subtracting(earlier.mirrored).sorted()
    return new.map { "\($0) is a new table; this command mirrors it when it is started again" }
      + leftOut.filter { !earlier.leftOut.contains($0) }
  }
}
