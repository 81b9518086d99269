package import SystemSupport

/// An open file that a response sends. It is closed with the last response that refers to it.
package final class ResponseFile: Sendable {
  let descriptor: FileDescriptor
  /// The number of bytes to send.
  package let size: Int

  /// - Parameters:
  ///   - descriptor: An open file, which this object closes.
  ///   - size: The number of bytes that it has now. What is appended later is not sent.
  package init(_ descriptor: FileDescriptor, size: Int) {
    (self.descriptor, self.size) = (descriptor, size)
  }

  deinit { try? descriptor.close() }
}
