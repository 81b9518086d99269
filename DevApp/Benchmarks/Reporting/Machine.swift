import Foundation

/// The machine on which figures were measured.
struct Machine: Encodable {
  let processor: String
  let cores: Int
  let system: String
  let swift: String

  /// - Parameter asksSwift: Whether to run `swift` to get its version.
  init(asksSwift: Bool) {
    processor = Self.processorName
    cores = Cores.count
    system = Self.systemName
    swift = asksSwift ? Self.swiftVersion : "unknown"
  }

  var description: String { "\(processor), \(cores) cores, \(system), Swift \(swift)" }

  private static var processorName: String {
    value(of: "model name", separator: ":", in: "/proc/cpuinfo") ?? "unknown processor"
  }

  private static var systemName: String {
    value(of: "PRETTY_NAME", separator: "=", in: "/etc/os-release")
      ?? ProcessInfo.processInfo.operatingSystemVersionString
  }

  /// Returns the first value of a key in a file of lines.
  private static func value(of key: String, separator: Character, in path: String) -> String? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix(key) {
      guard let end = line.firstIndex(of: separator) else { continue }
      return line[line.index(after: end)...].trimmingCharacters(
        in: CharacterSet(charactersIn: " \""))
    }
    return nil
  }

  /// The version of the `swift` in the path, with which `swift run` has built this program. A
  /// program knows only the first two numbers of its compiler's version.
  private static var swiftVersion: String {
    let swift = Process()
    let output = Pipe()
    swift.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    swift.arguments = ["swift", "--version"]
    swift.standardOutput = output
    swift.standardError = FileHandle.nullDevice
    guard (try? swift.run()) != nil else { return "unknown" }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    swift.waitUntilExit()
    guard let start = text.range(of: "Swift version ")?.upperBound else { return "unknown" }
    return String(text[start...].prefix { !$0.isWhitespace })
  }
}
