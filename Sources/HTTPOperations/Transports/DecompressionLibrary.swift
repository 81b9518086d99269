internal import ThreadSupport

/// A library of the system that is loaded while the program runs, and never unloaded.
@safe struct DecompressionLibrary {
  private let handle: UnsafeMutableRawPointer

  /// - Returns: Nil if it is not installed.
  init?(_ name: String) {
    #if os(Linux)
      guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
      unsafe self.handle = handle
    #else
      // `URLSession` decompresses bodies there.
      return nil
    #endif
  }

  /// A function of the library. The type must be its own, with `@convention(c)`.
  ///
  /// - Returns: Nil if the library has no function with the name.
  func function<Function>(_ name: String, as type: Function.Type) -> Function? {
    guard let address = unsafe dlsym(handle, name) else { return nil }
    return unsafe unsafeBitCast(address, to: Function.self)
  }
}
