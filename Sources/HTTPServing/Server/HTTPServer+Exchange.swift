internal import CompositeOperations

extension HTTPServer.Exchange {
  /// Runs the handler of the request, and sends its response.
  func run(_ handler: ServeHTTP.Handler, heartbeatTime: Duration) async {
    let response = await handler(request)
    guard case .events(let produce) = response.body, !request.isHead else {
      let response = request.isHead ? response.withoutEvents : response
      return connection.answer(response, nonce: request.nonce)
    }
    let ended = AsyncStream<Void>.makeStream()
    connection.answer(response, nonce: request.nonce, end: ended.continuation)
    let sink = EventSink { connection.send($0, in: number) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await produce(sink) }
      // The client has gone, or the server stops.
      group.addTask { for await _ in ended.stream {} }
      group.addTask {
        while (try? await Task.sleep(for: heartbeatTime)) != nil {
          connection.sendHeartbeat(in: number)
        }
      }
      await group.next()
      group.cancelAll()
    }
    connection.finishEvents(in: number)
  }
}
