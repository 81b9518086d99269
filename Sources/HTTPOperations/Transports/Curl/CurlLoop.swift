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

      fileprivate var isStop: Bool { if case .stop = self { true } else { false } }
    }

    /// The messages for the thread, and what it waits with; nil as long as there is no thread.
    private struct Mailbox: Sendable {
      var messages: [Message] = []
      var multi: CurlMulti?

      mutating func isFirst(_ multi: CurlMulti) -> Bool {
        if self.multi != nil { return false }
        self.multi = multi
        return true
      }
    }

    private let configuration: HTTPConfiguration
    private let mailbox = Lock(Mailbox())

    init(_ configuration: HTTPConfiguration) { self.configuration = configuration }

    func post(_ message: Message) {
      let (multi, isFirst) = mailbox.withLock { mailbox in
        // Without a thread, there is none to stop.
        if mailbox.multi != nil || !message.isStop { mailbox.messages.append(message) }
        return (mailbox.multi, mailbox.messages.count == 1)
      }
      guard let multi else { return message.isStop ? () : start() }
      // The thread takes all messages at once.
      if isFirst { multi.wake() }
    }

    private func start() {
      do throws(SystemError) {
        let multi = try CurlMulti(connectionsPerHost: configuration.connectionsPerHost)
        // Another thread may have been quicker.
        if !mailbox.withLock({ $0.isFirst(multi) }) { return }
        let code = SystemThread.start(named: "http") { self.run(multi) }
        if code != 0 { throw SystemError(code: code) }
      } catch {
        // Nothing can be sent without the thread.
        let messages = mailbox.withLock { mailbox in
          mailbox.multi = nil
          return exchange(&mailbox.messages, with: [])
        }
        for case .start(let exchange) in messages {
          let problem = "the thread for HTTP cannot start: \(error)"
          exchange.end(
            HTTPTransportError(
              error.isLackOfFiles ? .tooManyOpenFiles : .other(code: Int(error.code)), problem,
              wasSent: false))
          exchange.notify()
        }
      }
    }

    private func run(_ multi: CurlMulti) {
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
