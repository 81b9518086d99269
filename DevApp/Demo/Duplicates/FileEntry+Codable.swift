import CommandLineOperations

// One text per file, because a journal may hold millions of files: its size, identity and times, and
// then its path.
extension FileEntry: Codable {
  func encode(to encoder: any Encoder) throws {
    let numbers = [
      "\(version.size)", "\(version.identity.device)", "\(version.identity.number)",
      "\(version.modified.seconds)", "\(version.modified.nanoseconds)",
      "\(version.changed.seconds)", "\(version.changed.nanoseconds)",
    ]
    var container = encoder.singleValueContainer()
    try container.encode(numbers.joined(separator: " ") + " " + path.percentEncoded)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parts = try container.decode(String.self).utf8.split(
      separator: UInt8(ascii: " "), maxSplits: 7, omittingEmptySubsequences: false)
    func number<Number: FixedWidthInteger>(_ index: Int) -> Number? {
      Number(Substring(parts[index]))
    }
    guard parts.count == 8, let size: Int = number(0), let device: UInt64 = number(1),
      let file: UInt64 = number(2), let modified: Int64 = number(3),
      let modifiedPart: Int64 = number(4), let changed: Int64 = number(5),
      let changedPart: Int64 = number(6)
    else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a file is stored as seven numbers and a path")
    }
    path = RawPath(percentEncoded: String(Substring(parts[7])))
    version = FileVersion(
      identity: FileStatus.Identity(device: device, number: file), size: size,
      modified: FileStatus.Time(seconds: modified, nanoseconds: modifiedPart),
      changed: FileStatus.Time(seconds: changed, nanoseconds: changedPart))
  }
}
