import CompositeOperations
import Foundation
import RecordOperations
import Testing

/// A damaged database file, and the expected result.
struct DamagedDatabase: CustomTestStringConvertible {
  enum Expectation {
    /// Anything but a crash: some damage is in parts that are not read.
    case any
    case error
    case result
  }

  let name: String
  let expectation: Expectation
  /// Whether it is a regular file, whose bytes can be compared.
  var isFile = true
  private let damage: @Sendable (_ path: String) throws -> Void

  var testDescription: String { name }

  private init(
    _ name: String, _ expectation: Expectation, isFile: Bool = true,
    _ damage: @escaping @Sendable (String) throws -> Void
  ) {
    (self.name, self.expectation, self.isFile, self.damage) = (name, expectation, isFile, damage)
  }

  /// - Returns: The path of the file.
  func make(in folder: TemporaryFolder) throws -> String {
    let path = folder.file()
    try execute(
      [
        "CREATE TABLE T (a INTEGER PRIMARY KEY, b TEXT)", "CREATE INDEX I ON T (b)",
        """
        INSERT INTO T (b) WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n LIMIT 2000)
        SELECT hex(randomblob(20)) FROM n
        """, "PRAGMA journal_mode = DELETE",
      ], in: path)
    try damage(path)
    return path
  }

  static let all =
    [0, 1, 15, 16, 99, 100, 101, 1_000, 4_095, 4_096, 8_192, 50_000].map { length in
      DamagedDatabase("truncated after \(length) bytes", length == 0 ? .any : .error) { path in
        try change(path) { $0 = $0.prefix(length) }
      }
    }
    + (0..<20).map { seed in
      DamagedDatabase("random bytes, seed \(seed)", .any) { path in
        var random = OperationRandomness.seeded(UInt64(seed))
        try change(path) { data in
          for _ in 0..<20 {
            data[Int.random(in: 0..<data.count, using: &random)] = .random(
              in: 0...255, using: &random)
          }
        }
      }
    } + others

  private static let others = [
    DamagedDatabase("a text file", .error) { path in
      try change(path) { $0 = Data("a,b\n1,2\n".utf8) }
    },
    DamagedDatabase("zeros", .error) { path in try change(path) { $0 = Data(count: $0.count) } },
    DamagedDatabase("an invalid header", .error) { path in try change(path) { $0[0] = 0x73 } },
    DamagedDatabase("an invalid page size", .error) { path in
      try change(path) { $0[16...17] = Data([0x12, 0x34]) }
    },
    DamagedDatabase("a newer file format", .error) { path in
      try change(path) { $0[18...19] = Data([9, 9]) }
    },
    DamagedDatabase("a schema that is not SQL", .error) { path in
      try change(path) { data in
        guard let range = data.range(of: Data("CREATE TABLE T".utf8)) else { return }
        data.replaceSubrange(range, with: Data("CREATE TXBLE T".utf8))
      }
    },
    DamagedDatabase("an invalid root page of the table", .error) { path in
      try change(path) { data in data[4_096..<8_192] = Data(repeating: 0xFF, count: 4_096) }
    },
    DamagedDatabase("a folder", .error, isFile: false) { path in
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    },
    DamagedDatabase("a pipe", .error, isFile: false) { path in
      try FileManager.default.removeItem(atPath: path)
      try #require(unsafe mkfifo(path, 0o600) == 0)
    },
    DamagedDatabase("a missing file", .error, isFile: false) { path in
      try FileManager.default.removeItem(atPath: path)
    },
    DamagedDatabase("a link to itself", .error, isFile: false) { path in
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
    },
    DamagedDatabase("a link to a device", .error, isFile: false) { path in
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
    },
    DamagedDatabase("an invalid journal", .any) { path in
      try Data("no journal".utf8).write(to: URL(fileURLWithPath: path + "-journal"))
    },
    DamagedDatabase("an invalid log", .result) { path in
      try Data("no log".utf8).write(to: URL(fileURLWithPath: path + "-wal"))
    },
  ]

  private static func change(_ path: String, _ body: (inout Data) -> Void) throws {
    let url = URL(fileURLWithPath: path)
    var data = try Data(contentsOf: url)
    body(&data)
    try data.write(to: url)
  }
}
