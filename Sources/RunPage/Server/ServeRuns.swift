#if canImport(HTTPServing)
  package import CompositeOperations
  import DurableOperations
  import Foundation
  package import HTTPServing
  import SystemSupport

  /// An operation that serves the page of the runs of a store until it is cancelled.
  package struct ServeRuns: ComposableOperation {
    private let store: ServedStore
    private let address: ServerAddress
    private let hosts: [String]
    private let token: String?
    private let users: Set<UInt32>?
    private let publicOrigin: PublicOrigin?
    private let isReadOnly: Bool
    private let actors: Actors
    private let onListening: @Sendable (ServerAddress) -> Void

    /// - Parameters:
    ///   - hosts: The names of the machine that clients may use instead of the address.
    ///   - token: The token that the page asks for; nil for none.
    ///   - users: The numbers of the users of this machine that need no token; nil for all.
    ///   - publicOrigin: The address of a proxy in front, which browsers open; nil for none.
    ///   - actors: Names who acts, and reports it.
    ///   - onListening: Receives the address with its port.
    package init(
      store: ServedStore, address: ServerAddress, hosts: [String], token: String?,
      users: Set<UInt32>?, publicOrigin: PublicOrigin?, actors: Actors, isReadOnly: Bool,
      onListening: @escaping @Sendable (ServerAddress) -> Void
    ) {
      (self.store, self.address, self.hosts) = (store, address, hosts)
      (self.users, self.publicOrigin, self.actors) = (users, publicOrigin, actors)
      (self.token, self.isReadOnly, self.onListening) = (token, isReadOnly, onListening)
    }

    package var operationName: String { "serve" }

    package func perform(in context: OperationContext) async throws {
      let changes = StoreChanges(of: store)
      let routes = RunRoutes(
        store: store, isReadOnly: isReadOnly, changes: changes, actors: actors)
      let server = ServeHTTP(
        at: address, names: hosts, token: token, users: users, publicOrigin: publicOrigin,
        methods: RunRoutes.methods,
        loginPage: \.styledPage, onListening: onListening
      ) { await routes.response(to: $0) }
      let watch = SimpleOperation { try await changes.watch() }.named("watch the store")
      // So that the first page need not wait for it.
      let count = SimpleOperation { await routes.countRuns() }.named("count the runs")
      do {
        _ = try await context.run(
          ParallelOperation([AnyOperation(server), AnyOperation(watch), AnyOperation(count)]))
      } catch let error as ParallelOperationError {
        // Only the server fails by itself.
        if case .error(let cause)? = error.failures.first?.outcome { throw cause }
        throw error
      }
    }
  }
#endif
