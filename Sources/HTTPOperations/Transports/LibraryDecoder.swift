/// Decompresses a body in the codings `br` and `zstd` with the libraries of the system.
///
/// They are loaded while the program runs, so a build needs no headers of them, and a program starts
/// where they are missing. In Debian, libcurl depends on both.
final class LibraryDecoder: ContentDecoder {
  /// The codings whose libraries are installed.
  static let codings: [String] =
    (BrotliLibrary.shared == nil ? [] : ["br"]) + (ZstandardLibrary.shared == nil ? [] : ["zstd"])

  private let stream: any DecompressionStream
  /// Whether bytes after the end of the data are ignored.
  private let isLenient: Bool
  private var input: [UInt8] = []
  /// How many bytes of the input have been used.
  private var offset = 0
  private var state = State.new
  /// Whether this is a frame after the first, without output yet. It may be other bytes that follow
  /// the data.
  private var isUnproven = false

  private enum State {
    case new, inside
    /// At the end of the data, or of a frame of it.
    case complete
    /// After the end of the data, among bytes that are ignored.
    case surplus
  }

  /// - Returns: Nil if it cannot decompress the coding.
  init?(coding: String, isLenient: Bool) {
    let stream: (any DecompressionStream)? =
      switch coding {
      case "br": BrotliStream()
      case "zstd": ZstandardStream()
      default: nil
      }
    guard let stream else { return nil }
    self.stream = stream
    self.isLenient = isLenient
  }

  func add(_ bytes: [UInt8]) { (input, offset) = (bytes, 0) }

  func end() throws(HTTPTransportError) {
    guard state == .inside else { return }
    if !isUnproven { throw .incompleteBody }
    if !isLenient { throw .surplus }
  }

  func next() throws(HTTPTransportError) -> [UInt8]? {
    while offset < input.count || state == .inside {
      switch state {
      case .new: state = .inside
      case .inside: break
      case .complete where stream.hasFrames: (state, isUnproven) = (.inside, true)
      case .complete, .surplus:
        guard isLenient else { throw .surplus }
        (state, offset) = (.surplus, input.count)
        return nil
      }
      let step = stream.decompress(input[offset...])
      offset += step.used
      if !step.output.isEmpty { isUnproven = false }
      switch step.result {
      case .hasMore: break
      case .needsInput: if step.output.isEmpty { return nil }
      case .ended:
        state = .complete
        isUnproven = false
      case .failed(let message):
        guard isUnproven else { throw HTTPTransportError(.undecodableBody, message) }
        guard isLenient else { throw .surplus }
        (state, offset) = (.surplus, input.count)
        return nil
      }
      if !step.output.isEmpty { return step.output }
    }
    return nil
  }
}
