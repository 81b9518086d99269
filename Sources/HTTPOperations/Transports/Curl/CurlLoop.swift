#if !canImport(Darwin)
  internal import CCurl
  internal import CompositeOperations
  internal import SystemSupport

  /// The thread of a transport. It runs from the first exchange until it is stopped.
  ///
  /// It never waits for a user: it calls none of their functions, resumes no task while libcurl is
  /// running, and writes no files.
  final class CurlLoop: Sendable {
    enum Message: Sendable {
      case start(HTTPExchange)
      case update(HTTPExchange)
      case stop
    }

    /// The messages for the thread.
    private struct Mailbox: Sendable {
      var messages: [Message] = []
      var isRunning = false
    }

    private let configuration: HTTPConfiguration
    private let mailbox = Lock(Mailbox())
    private let multi: CurlMulti

    init(_ configuration: HTTPConfiguration) {
      self.configuration = configuration
      multi = CurlMulti(connectionsPerHost: configuration.connectionsPerHost)
    }

    func post(_ message: Message) {
      let (isFirst, mustStart) = mailbox.withLock { mailbox in
        // There is no thread to stop.
        if case .stop = message, !mailbox.isRunning { return (false, false) }
        mailbox.messages.append(message)
        return (mailbox.messages.count == 1, !exchange(&mailbox.isRunning, with: true))
      }
      if !mustStart {
        // The thread takes all messages at once.
        if isFirst { multi.wake() }
        return
      }
      let code = multi.code == 0 ? SystemThread.start(named: "http") { self.run() } : multi.code
      if code == 0 { return }
      // Nothing can be sent without the thread.
      let messages = mailbox.withLock { mailbox in
        mailbox.isRunning = false
        return exchange(&mailbox.messages, with: [])
      }
      for case .start(let exchange) in messages {
        let problem = "the thread for HTTP cannot start: \(SystemError(code: code))"
        exchange.end(HTTPTransportError(.other(code: Int(code)), problem, wasSent: false))
        exchange.notify()
      }
    }

    private func run() {
      composite_block_sigpipe()
      let transfers = CurlTransfers(on: multi, configuration)
      while true {
        for message in mailbox.withLock({ exchange(&$0.messages, with: []) }) {
          switch message {
          case .start(let exchange): transfers.start(exchange)
          case .update(let exchange): transfers.update(exchange)
          case .stop: return
          }
        }
        transfers.perform()
        if transfers.holdsNews {
          // A message may have ended this wait, so the next one is after the messages.
          if !multi.wait(milliseconds: 0) { transfers.notify() }
        } else {
          transfers.notify()
          multi.wait(milliseconds: transfers.timeToDeadline)
        }
      }
    }
  }
#endif
