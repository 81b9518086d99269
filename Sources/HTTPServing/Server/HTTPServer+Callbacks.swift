internal import CMicrohttpd

/// The functions that libmicrohttpd calls on its thread.
///
/// The object of a connection is retained from its start to its end.
extension HTTPServer {
  static var callbacks: composite_http_functions {
    unsafe composite_http_functions(
      access: { context, connection, _, method, version, bytes, count, _ in
        guard let server = unsafe HTTPServer.from(context), let handle = unsafe connection,
          let method = unsafe method, let version = unsafe version, let count = unsafe count
        else { return composite_http_no }
        let upload = unsafe UnsafeRawBufferPointer(start: bytes, count: count.pointee)
        unsafe count.pointee = 0
        return unsafe server.advance(
          ConnectionHandle(handle), method: String(cString: method),
          version: String(cString: version), upload: upload)
      },
      target: { context, target, connection in
        guard let handle = unsafe connection, let target = unsafe target else { return nil }
        let bytes = unsafe UnsafeRawBufferPointer(start: target, count: strlen(target))
        unsafe ConnectionHandle(handle).connection?.received(target: Array(bytes))
        return nil
      },
      completed: { context, connection, _, _ in
        guard let server = unsafe HTTPServer.from(context), let handle = unsafe connection else {
          return
        }
        unsafe ConnectionHandle(handle).connection?.completed()
        server.noteProgress()
      },
      connection: { context, connection, object, change in
        guard let server = unsafe HTTPServer.from(context), let handle = unsafe connection,
          let object = unsafe object
        else { return }
        if change == composite_http_started {
          let connection = unsafe ServerConnection(
            ConnectionHandle(handle), limits: server.limits
          ) { [weak server] kind in server?.noteDeadline(kind) }
          unsafe object.pointee = Unmanaged.passRetained(connection).toOpaque()
          server.add(connection)
        } else if let pointer = unsafe object.pointee {
          let connection = unsafe Unmanaged<ServerConnection>.fromOpaque(pointer)
            .takeRetainedValue()
          unsafe object.pointee = nil
          connection.closed()
          server.remove(connection)
        }
      })
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPServer? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
  }

  /// Continues a request: checks its header, stores a part of its body, hands it over to a task, or
  /// sends its response.
  private func advance(
    _ handle: ConnectionHandle, method: String, version: String, upload: UnsafeRawBufferPointer
  ) -> MHD_Result {
    guard let connection = handle.connection else { return composite_http_no }
    switch connection.nextStep() {
    case .checkHead(let target):
      do throws(RequestRefusal) {
        connection.received(
          try head(of: handle, method: method, version: version, target: target))
        return composite_http_yes
      } catch {
        // The body was not read, so the connection cannot be used for another request.
        _ = connection.willRespond()
        return respond(closing: true, on: handle) { response(to: error, nonce: $0) }
      }
    case .readBody:
      if upload.count > 0 {
        return unsafe connection.received(body: upload) ? composite_http_yes : composite_http_no
      }
      return complete(handle, connection)
    case .send(let answer):
      return handle.queue(
        answer.response, nonce: answer.nonce, closing: answer.isLast, for: connection)
    case .close: return composite_http_no
    }
  }

  private func head(
    of handle: ConnectionHandle, method: String, version: String, target: [UInt8]
  ) throws(RequestRefusal) -> RequestHead {
    let headers = try handle.headers(
      method: method, targetSize: target.count, version: version, limit: limits.headerSize)
    let head = try RequestHead(
      method: method, target: target, version: version, headers: headers)
    let user = requestGuard.users == nil ? nil : handle.connection?.user
    if let refusal = requestGuard.refusal(of: head, from: user) { throw refusal }
    if let size = head.bodySize, size > limits.bodySize { throw tooLarge }
    return head
  }

  private var tooLarge: RequestRefusal {
    RequestRefusal(413, "The body is larger than \(limits.bodySize) bytes.")
  }

  /// The request is complete.
  private func complete(_ handle: ConnectionHandle, _ connection: ServerConnection) -> MHD_Result {
    guard let upload = connection.takeUpload() else { return composite_http_no }
    let nonce = Self.nonce
    if let response = ownResponse(to: upload, nonce: nonce) {
      return handle.queue(
        response, nonce: nonce, closing: connection.willRespond(), for: connection)
    }
    guard let number = connection.suspendForHandler() else {
      _ = connection.willRespond()
      return respond(closing: true, on: handle) { _ in
        HTTPResponse(.text, "The server stops.\n", status: 503)
      }
    }
    let request = HTTPRequest(
      body: upload.body, peer: connection.peer,
      user: upload.head.isSafe ? nil : connection.user,
      hasToken: requestGuard.hasToken(upload.head), nonce: nonce,
      formSecret: requestGuard.secrets.form.text, head: upload.head)
    hand(over: Exchange(request: request, connection: connection, number: number))
    return composite_http_yes
  }

  /// The response to a request that needs no handler; nil if it needs one.
  private func ownResponse(
    to upload: ServerConnection.StateMachine.Upload, nonce: String
  ) -> HTTPResponse? {
    if upload.isTooLarge { return HTTPResponse(tooLarge) }
    if let refusal = requestGuard.refusal(of: upload.head, body: upload.body) {
      return response(to: refusal, nonce: nonce)
    }
    let head = upload.head
    if requestGuard.hasLink(head) { return LoginForm.response(toLink: head, by: requestGuard) }
    guard requestGuard.secrets.token != nil, head.target.path == LoginForm.path else { return nil }
    if LoginForm.isLogin(head) {
      return LoginForm.response(
        to: upload.body, of: head, by: requestGuard, nonce: nonce, page: loginPage)
    }
    // The browser has the session already.
    return head.isSafe ? .redirect(to: LoginForm.target(of: head)) : nil
  }

  private func response(to refusal: RequestRefusal, nonce: String) -> HTTPResponse {
    guard let target = refusal.login else { return HTTPResponse(refusal) }
    return .login(loginPage(LoginForm(for: target, nonce: nonce)))
  }

  private func respond(
    closing: Bool, on handle: ConnectionHandle, _ response: (String) -> HTTPResponse
  ) -> MHD_Result {
    guard let connection = handle.connection else { return composite_http_no }
    let nonce = Self.nonce
    return handle.queue(response(nonce), nonce: nonce, closing: closing, for: connection)
  }

  private static var nonce: String { Secret.hex(words: 2) }
}
