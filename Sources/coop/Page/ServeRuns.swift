#if canImport(HTTPServing)
  import CompositeOperations
  import DurableOperations
  import Foundation
  import HTTPServing
  import SystemSupport

  /// An operation that serves the page of the runs of a store until it is cancelled.
  struct ServeRuns: ComposableOperation {
    let store: ServedStore
    let address: ServerAddress
    /// The names of the machine that clients may use instead of the address.
    let hosts: [String]
    let token: String?
    let isReadOnly: Bool
    let onListening: @Sendable (ServerAddress) -> Void

    var operationName: String { "serve" }

    func perform(in context: OperationContext) async throws {
      let changes = StoreChanges(of: store)
      let routes = RunRoutes(
        store: store, isReadOnly: isReadOnly, changes: changes)
      let server = ServeHTTP(
        at: address, names: hosts, token: token, methods: RunRoutes.methods,
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
