import CommandLineOperations
import CompositeOperations
import DurableOperations
import FlowFiles
import Foundation
import OperationTracing
import RunPage
import SystemSupport

#if canImport(HTTPServing)
  import HTTPServing

  /// The programs that may read the page.
  private enum PageAccess {
    /// Programs with a token: the one of a file, or a new one, which the printed link has.
    case token(String, isNew: Bool)
    /// Programs of some users of this machine.
    case users(Set<UInt32>)

    /// - Parameter file: The file with the token; nil for none.
    init(tokenFile file: String?) throws {
      self =
        if let file {
          .token(try TokenFile.token(in: file, minimum: ServeHTTP.minimumTokenSize), isNew: false)
        } else if PeerUser.isKnown {
          // Root can read the store in any case.
          .users([0, SystemUser.current])
        } else {
          .token(Secret().text, isNew: true)
        }
    }

    var token: String? { if case .token(let token, _) = self { token } else { nil } }
    var users: Set<UInt32>? { if case .users(let users) = self { users } else { nil } }

    /// The query of the link.
    var query: String {
      if case .token(let token, isNew: true) = self { "?\(LoginForm.field)=\(token)" } else { "" }
    }

    var text: String {
      switch self {
      case .token(_, isNew: true): " to programs that have this link"
      case .token: " and asks for the token"
      case .users: " to programs of user \(SystemUser.name(of: SystemUser.current))"
      }
    }
  }
#endif

extension JournalActions {
  /// Serves the page until Ctrl-C.
  ///
  /// - Returns: The exit status.
  func serve() async throws -> Int32 {
    #if canImport(HTTPServing)
      // Before the file is opened, so that a later one at its path is known as another one.
      let served = ServedStore(
        store, at: place, journal: RunStore.isAddress(arguments.place) ? nil : arguments.place)
      // An unusable store is an error at once.
      _ = try await store.runs(limit: 1)
      let (place, output, hosts) = (place, output, arguments.hosts)
      let access = try PageAccess(tokenFile: arguments.tokenFile)
      let address = try ServerAddress(arguments.address)
      if arguments.tokenFile == nil, !address.isLoopback {
        throw JournalError(
          """
          other machines can reach \(address); use --token-file FILE with a token, or an address such \
          as 127.0.0.1:\(address.port)
          """)
      }
      let publicOrigin = arguments.publicURL.flatMap { PublicOrigin($0) }
      let actors = Actors(header: arguments.userHeader) { report("\(Date().second) \($0)") }
      let serve = ServeRuns(
        store: served, address: address, hosts: hosts, token: access.token, users: access.users,
        publicOrigin: publicOrigin, actors: actors, isReadOnly: arguments.isReadOnly
      ) { address in
        let host = hosts.first.map { "\($0):\(address.port)" } ?? "\(address.reachable)"
        let proxy = publicOrigin.map { ", as \($0)/," } ?? ""
        let line =
          "http://\(host)/\(access.query)\(proxy) shows the runs of \(place.onOneLine)\(access.text); "
          + "Ctrl-C ends the page\n"
        try? output.write(Array(line.utf8))
      }
      let flow = try await ProgramRun(
        of: serve, observedBy: ProgramObservation(TraceOptions()), awaitsEnd: true)
      switch flow.outcome {
      case .result: return ExitStatus.success
      case .error(let error): throw error
      case .cancelled: return flow.interruptedStatus
      }
    #else
      throw JournalError(
        """
        this program was built without libmicrohttpd; install it (libmicrohttpd-dev on Debian), run \
        `swift package purge-cache`, and build it again
        """)
    #endif
  }
}
