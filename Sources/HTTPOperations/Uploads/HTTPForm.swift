extension HTTPUploadSource {
  /// A form with files (`multipart/form-data`, RFC 7578), for a POST.
  ///
  /// The files are read while they are sent, and their sizes are determined when the operation
  /// runs. So the server gets a `Content-Length`. A file whose size changes meanwhile is an
  /// ``HTTPFileError``. Names are sent as browsers send them: in UTF-8, with `%0D`, `%0A` and `%22`
  /// for line breaks and quotes.
  ///
  /// The boundary of the parts is random, and the same in every attempt. The request's
  /// `Content-Type` is replaced, because it has the boundary.
  ///
  /// ```swift
  /// import HTTPOperations
  ///
  /// let photo = URL(fileURLWithPath: "/tmp/photo.jpeg")
  /// let upload = HTTPUploadOperation(
  ///   url, method: "POST",
  ///   from: .form([
  ///     .text("album", "Summer"), .file("photo", photo, contentType: "image/jpeg"),
  ///   ]))
  /// ```
  ///
  /// - Parameter parts: The parts in their order. Several may have the same name. A part whose
  ///   content type has a line break is an ``HTTPTransferError/Reason/badRequest(_:)``.
  public static func form(_ parts: [HTTPFormPart]) -> HTTPUploadSource {
    let numbers = (0..<2).map { _ in String(UInt64.random(in: 1 << 60 ... .max), radix: 16) }
    let boundary = "form-\(numbers.joined())"
    return HTTPUploadSource(
      kind: .form(parts, boundary: boundary),
      contentType: "multipart/form-data; boundary=\(boundary)")
  }
}
