#if !canImport(Darwin)
  internal import CompositeOperations

  /// The transport on Linux: libcurl, on a thread of its own.
  final class CurlTransport: HTTPTransport {
    let decompressesBodies = false
    private let loop: CurlLoop

    init(_ configuration: HTTPConfiguration) { loop = CurlLoop(configuration) }

    // Every exchange retains its transport, so there is none.
    deinit { loop.post(.stop) }

    func start(_ exchange: HTTPExchange) { loop.post(.start(exchange)) }

    func update(_ exchange: HTTPExchange) { loop.post(.update(exchange)) }
  }
#endif
