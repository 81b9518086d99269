public import Foundation

/// A part of a form: a text, bytes in memory, or a file on disk.
///
/// ```swift
/// import HTTPOperations
///
/// let parts: [HTTPFormPart] = [
///   .text("title", "It does not work"),
///   .file("log", URL(fileURLWithPath: "/tmp/build.log"), contentType: "text/plain"),
/// ]
/// let report = HTTPUploadOperation(url, method: "POST", from: .form(parts))
/// ```
public struct HTTPFormPart: Sendable {
  enum Content: Sendable {
    case bytes([UInt8])
    case file(URL)
  }

  let name: String
  let content: Content
  /// Nil for a text.
  let fileName: String?
  /// Nil for a text.
  let contentType: String?

  /// A field with a text, in UTF-8. Its line breaks are sent unchanged.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - text: The value of the field.
  public static func text(_ name: String, _ text: String) -> HTTPFormPart {
    HTTPFormPart(name: name, content: .bytes(Array(text.utf8)), fileName: nil, contentType: nil)
  }

  /// A field with a file that is in memory.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - data: The contents of the file.
  ///   - fileName: The name of the file.
  ///   - contentType: The media type of the file.
  public static func data(
    _ name: String, _ data: Data, fileName: String,
    contentType: String = "application/octet-stream"
  ) -> HTTPFormPart {
    HTTPFormPart(
      name: name, content: .bytes([UInt8](data)), fileName: fileName, contentType: contentType)
  }

  /// A field with the contents of a file when the operation runs. They are not kept in memory.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - url: The file.
  ///   - fileName: The name that is sent; nil for the name of the file.
  ///   - contentType: The media type of the file.
  public static func file(
    _ name: String, _ url: URL, fileName: String? = nil,
    contentType: String = "application/octet-stream"
  ) -> HTTPFormPart {
    HTTPFormPart(
      name: name, content: .file(url), fileName: fileName ?? url.lastPathComponent,
      contentType: contentType)
  }

  /// Whether the media type can be a line of a header.
  var isValid: Bool { contentType?.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ?? true }

  /// The delimiter and the headers of the part (RFC 7578, section 4).
  func head(_ boundary: String) -> String {
    var lines = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(name))\""
    if let fileName { lines += "; filename=\"\(Self.escaped(fileName))\"" }
    if let contentType { lines += "\r\nContent-Type: \(contentType)" }
    return "\(lines)\r\n\r\n"
  }

  /// The text as browsers send a name (HTML, section 4.10.22.8).
  private static func escaped(_ text: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\r": escaped.append(contentsOf: "%0D".unicodeScalars)
      case "\n": escaped.append(contentsOf: "%0A".unicodeScalars)
      case "\"": escaped.append(contentsOf: "%22".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}

extension HTTPFormPart: CustomReflectable {
  /// The name and the name of the file, without the contents, which may be secrets.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: ["name": name, "fileName": fileName as Any, "contentType": contentType as Any],
      displayStyle: .struct)
  }
}
