#if !canImport(Darwin)
  internal import CCurl
  internal import CompositeOperations
  internal import Foundation
  internal import SystemSupport

  /// The connections of a transport, a multi handle of libcurl.
  ///
  /// It waits with `epoll`, and libcurl looks only at the transfers whose sockets are ready. So
  /// requests do not become slower by others that wait for their responses.
  ///
  /// Only the thread of the transport uses it, except for ``wake()``.
  // Unchecked: it is released with the loop, which the thread retains.
  @safe final class CurlMulti: @unchecked Sendable {
    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    let handle: UnsafeMutableRawPointer
    /// The descriptor of the sockets.
    private let poll: Int32
    /// The descriptor that ends a wait.
    private let wakeUp: Int32
    private var events = [composite_event](
      repeating: composite_event(), count: composite_events_limit)
    /// How many of the events are not handled yet.
    private var eventCount = 0
    /// The time at which libcurl has something to do, in nanoseconds; nil if there is none.
    private var alarm: Int64?

    /// - Throws: The error of the system if it has no descriptors left.
    init(connectionsPerHost: Int) throws(SystemError) {
      guard Self.isReady, let handle = unsafe curl_multi_init() else {
        preconditionFailure("libcurl cannot be initialized")
      }
      unsafe self.handle = handle
      poll = epoll_create1(Int32(EPOLL_CLOEXEC))
      wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
      if composite_watch(poll, EPOLL_CTL_ADD, wakeUp, CURL_POLL_IN) != 0 {
        throw SystemError(code: poll < 0 || wakeUp < 0 ? EMFILE : errno)
      }
      // The default is four connections for each transfer, which closes those that others need.
      unsafe composite_curl_multi_set_number(
        handle, CURLMOPT_MAXCONNECTS, min(connectionsPerHost, 1 << 20) * 4)
      unsafe composite_curl_multi_set_functions(
        handle,
        { _, socket, change, context, isWatched in
          unsafe CurlMulti.of(context)?.watch(socket, change, isWatched: isWatched != nil)
          return 0
        },
        { _, milliseconds, context in
          unsafe CurlMulti.of(context)?.setAlarm(milliseconds)
          return 0
        },
        Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
      unsafe composite_curl_multi_set_functions(handle, nil, nil, nil)
      unsafe curl_multi_cleanup(handle)
      for file in [poll, wakeUp] where file >= 0 { close(file) }
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> CurlMulti? {
      unsafe context.map { unsafe Unmanaged<CurlMulti>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Waiting

    /// Ends the wait of the thread, or its next one.
    func wake() { eventfd_write(wakeUp, 1) }

    /// - Returns: Whether bytes can be received or sent.
    @discardableResult func wait(milliseconds: Int32) -> Bool {
      eventCount = Int(unsafe composite_wait(poll, &events, until(milliseconds)))
      guard events.prefix(eventCount).contains(where: { $0.socket == wakeUp }) else {
        return eventCount > 0
      }
      var number: eventfd_t = 0
      unsafe eventfd_read(wakeUp, &number)
      return eventCount > 1
    }

    /// - Returns: The time until libcurl has something to do, at most the given one.
    private func until(_ milliseconds: Int32) -> Int32 {
      guard let alarm else { return milliseconds }
      let rest = max(0, (alarm - MonotonicTime.now + 999_999) / 1_000_000)
      return Int32(min(Int64(milliseconds), rest))
    }

    // MARK: Transferring

    /// Sends and receives what is possible without waiting.
    func perform() {
      var count: Int32 = 0
      let ready = events.prefix(exchange(&eventCount, with: 0))
      for event in ready where event.socket != wakeUp {
        unsafe curl_multi_socket_action(handle, event.socket, event.bits, &count)
      }
      guard let alarm, alarm <= MonotonicTime.now else { return }
      self.alarm = nil
      unsafe curl_multi_socket_action(handle, CURL_SOCKET_TIMEOUT, 0, &count)
    }

    // MARK: Callbacks of libcurl

    private func watch(_ socket: curl_socket_t, _ change: Int32, isWatched: Bool) {
      if change == CURL_POLL_REMOVE {
        // Fails if libcurl has closed the socket, which also ends the watch.
        _ = composite_watch(poll, EPOLL_CTL_DEL, socket, 0)
        return
      }
      if !isWatched {
        // Any pointer but null, for the next call.
        unsafe curl_multi_assign(handle, socket, handle)
        if composite_watch(poll, EPOLL_CTL_ADD, socket, change) == 0 { return }
      }
      _ = composite_watch(poll, EPOLL_CTL_MOD, socket, change)
    }

    private func setAlarm(_ milliseconds: Int) {
      alarm = milliseconds < 0 ? nil : MonotonicTime.now + Int64(milliseconds) * 1_000_000
    }
  }
#endif
