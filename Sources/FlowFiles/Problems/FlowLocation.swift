internal import SystemSupport

/// A position in a flow file.
public struct FlowLocation: Hashable, Comparable, Sendable {
  // A file has at most 4 MiB, and several positions for each value.
  private let storedLine: UInt32
  private let storedColumn: UInt32

  package init(line: Int, column: Int) {
    storedLine = UInt32(line)
    storedColumn = UInt32(column)
  }

  /// The line, from 1.
  public var line: Int { Int(storedLine) }
  /// The column, from 1, in Unicode scalars.
  public var column: Int { Int(storedColumn) }

  static let start = FlowLocation(line: 1, column: 1)

  public static func < (one: FlowLocation, other: FlowLocation) -> Bool {
    (one.storedLine, one.storedColumn) < (other.storedLine, other.storedColumn)
  }
}

/// Finds the locations of bytes in a text. Line feeds, carriage returns and pairs of them end lines.
struct FlowLocator {
  private let bytes: [UInt8]
  private var offset = 0
  private var line = 1
  private var column = 1

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the location of a byte.
  ///
  /// - Parameter target: The index of the byte. Locations in the order of the text take O(*n*) for
  ///   all *n* bytes.
  mutating func location(of target: Int) -> FlowLocation {
    if target < offset { (offset, line, column) = (0, 1, 1) }
    while offset < min(target, bytes.count) {
      let byte = bytes[offset]
      offset += 1
      if byte == .lineFeed || byte == .carriageReturn {
        let isPair = byte == .carriageReturn && offset < bytes.count && bytes[offset] == .lineFeed
        // The line feed of a pair ends the line.
        if isPair { continue }
        line += 1
        column = 1
      } else if byte & 0b1100_0000 != 0b1000_0000 {
        column += 1
      }
    }
    return FlowLocation(line: line, column: column)
  }
}
