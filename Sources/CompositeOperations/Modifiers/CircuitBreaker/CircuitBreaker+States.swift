extension CircuitBreaker {
  /// The present state and its changes, for any number of readers.
  ///
  /// ```swift
  /// let server = CircuitBreaker(opensAfterFailures: 5, halfOpensAfter: .seconds(30), name: "server")
  /// for await state in server.states { print("the circuit breaker is \(state)") }
  /// ```
  ///
  /// A reader first receives the present state, and then the new state after each change. A slow
  /// reader may miss states between two reads, but always receives the last one. It never delays an
  /// operation, and no states are stored for it. The sequence ends when the task is cancelled.
  public var states: States { States(breaker: self) }

  /// The states of a circuit breaker. See ``CircuitBreaker/states``.
  public struct States: AsyncSequence, Sendable {
    fileprivate let breaker: CircuitBreaker

    public func makeAsyncIterator() -> Iterator { Iterator(breaker: breaker) }

    /// An iterator over the states.
    public struct Iterator: AsyncIteratorProtocol {
      private let breaker: CircuitBreaker
      /// The number of the last state that was read.
      private var number: Int?

      fileprivate init(breaker: CircuitBreaker) { self.breaker = breaker }

      /// Returns the present state, or waits for a state that was not returned yet.
      ///
      /// - Returns: Nil when the task is cancelled.
      public mutating func next() async -> State? { await next(isolation: #isolation) }

      /// Returns the present state, or waits for a state that was not returned yet.
      ///
      /// - Parameter actor: The actor of the caller.
      /// - Returns: Nil when the task is cancelled.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> State? {
        guard let (state, number) = await breaker.state(after: number) else { return nil }
        self.number = number
        return state
      }
    }
  }
}
