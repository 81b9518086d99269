import Foundation
import TestSupport
import Testing

/// Compares the groups with the groups of other programs, if they are installed.
@Suite(.timeLimit(.minutes(10))) struct ComparisonTests {
  /// Identifies a file independently of its name.
  private struct Identity: Hashable {
    let device, number: UInt64

    init(_ path: String) throws {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      device = (attributes[.systemNumber] as? NSNumber)?.uint64Value ?? 0
      number = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    }
  }

  @Test(arguments: ["fdupes", "jdupes"], [true, false])
  func `the groups equal the groups of fdupes and jdupes`(name: String, isMade: Bool) async throws {
    let options = name == "fdupes" ? ["-r", "-q", "-n"] : ["-r", "-q"]
    let made = isMade ? try madeTree() : nil
    let folder = made?.path ?? "/usr/include"
    guard var other = Program.installed(name), FileManager.default.fileExists(atPath: folder)
    else { return }
    other = Program(executable: other.executable, arguments: options + [folder])
    let ours = try await Report(Program.devApp("duplicates", "--json", folder).run())
    let theirs = try await other.run().text.components(separatedBy: "\n\n")
      .map { Set(try $0.split(separator: "\n").map { try Identity(String($0)) }) }
      .filter { $0.count > 1 }
    let groups = try ours.groups.map { Set(try $0.files.map { try Identity($0.path) }) }
    #expect(Set(groups) == Set(theirs))
    #expect(!groups.isEmpty)
  }

  /// Creates a tree of random files, many of which are copies, near copies or hard links of others.
  private func madeTree() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    var state: UInt64 = 20_261_121
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    var contents: [Data] = []
    for index in 0..<1_500 {
      var data: Data
      if !contents.isEmpty, random(3) == 0 {
        data = contents[random(contents.count)]
        if random(4) == 0, !data.isEmpty { data[data.count - 1] ^= 1 }
        if random(6) == 0, !data.isEmpty { data[0] ^= 1 }
      } else {
        let size = [0, 1, 64, 512, 4_096, 4_097, 20_000, 300_000][random(8)]
        data = Data((0..<min(size, 64)).map { _ in UInt8(random(256)) })
        data.append(Data(repeating: UInt8(random(4)), count: size - data.count))
        contents.append(data)
      }
      let file = try folder.write(data, to: "d\(random(40))/e\(random(3))/f\(index)")
      if random(20) == 0 {
        try FileManager.default.linkItem(
          at: file, to: file.deletingLastPathComponent().appendingPathComponent("l\(index)"))
      }
    }
    return folder
  }
}
