#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A descriptor that is open as long as this lives.
struct Descriptor: ~Copyable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  /// Reads what is there.
  ///
  /// - Returns: How many bytes; 0 at the end, nil if there is nothing at the moment.
  func read(into buffer: inout [UInt8]) -> Int? {
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe systemRead(number, bytes.baseAddress, bytes.count)
      }
      if count >= 0 { return count }
      if errno == EAGAIN { return nil }
      // What cannot be read has ended.
      if errno != EINTR { return 0 }
    }
  }

  /// Writes as much as goes at once.
  ///
  /// - Returns: How many bytes that were; nil if nobody reads any more.
  func write(_ bytes: ArraySlice<UInt8>) -> Int? {
    while true {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe systemWrite(number, bytes.baseAddress, bytes.count)
      }
      if count >= 0 { return count }
      if errno == EAGAIN { return 0 }
      if errno != EINTR { return nil }
    }
  }
}

// The functions of the system, whose names the methods have too.
private func systemRead(_ file: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(file, bytes, count)
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(file, bytes, count)
}
