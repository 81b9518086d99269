/// The memory of a child in a list of children of any types.
///
/// An `any ComposableOperation` consists of three words for the operation or for the reference to
/// its box, the type, and the conformance. Swift has no function for the address of the operation.
/// So it is read from there, if a test of three types has shown that the memory is as expected.
@safe struct MixedChild {
  private let address: UnsafeRawPointer

  init(at place: UnsafePointer<any ComposableOperation>) {
    unsafe address = UnsafeRawPointer(place)
  }

  /// Whether this child has the type of another one.
  @inline(__always) func hasType(of other: MixedChild) -> Bool { typeWord == other.typeWord }

  private var typeWord: UInt {
    unsafe address.load(fromByteOffset: 3 * MemoryLayout<UInt>.size, as: UInt.self)
  }

  /// The address of the operation.
  ///
  /// - Precondition: ``isAsExpected``
  var operation: UnsafeRawPointer {
    // The witness table of the type is before its metadata: eight functions, the size, the stride,
    // and the flags. The lowest byte of them is the alignment less 1.
    let type = unsafe UnsafeRawPointer(bitPattern: typeWord).unsafelyUnwrapped
    let word = MemoryLayout<UInt>.size
    let witnesses = unsafe type.load(fromByteOffset: -word, as: UnsafeRawPointer.self)
    let flags = unsafe witnesses.load(fromByteOffset: 10 * word, as: UInt32.self)
    let isInBox = flags & 0x0002_0000 != 0
    if !isInBox { return unsafe address }
    let alignmentMask = Int(flags & 0xFF)
    // A box begins with the two words of every object.
    let offset = (2 * word + alignmentMask) & ~alignmentMask
    return unsafe address.load(as: UnsafeRawPointer.self) + offset
  }

  #if canImport(Darwin)
    // Not tested there, and with pointer authentication the address would have to be
    // authenticated.
    static let isAsExpected = false
  #else
    /// Whether the memory of a child is as this type assumes.
    static let isAsExpected =
      MemoryLayout<any ComposableOperation>.size == 5 * MemoryLayout<UInt>.size
      && Sample(number: 1).isFound && Sample(number: (2, 3, 4, 5)).isFound
      && Sample(number: Int128(6)).isFound
  #endif
}

/// An operation for the test of the memory of a child.
private struct Sample<Number: Sendable>: ComposableOperation {
  let number: Number

  func perform(in context: OperationContext) -> Number { number }

  /// Whether the operation is found in the memory of a child.
  var isFound: Bool {
    unsafe withUnsafePointer(to: self as any ComposableOperation) { place in
      let operation = unsafe MixedChild(at: place).operation
      return unsafe withUnsafeBytes(of: self) { bytes in
        unsafe bytes.elementsEqual(UnsafeRawBufferPointer(start: operation, count: bytes.count))
      }
    }
  }
}
