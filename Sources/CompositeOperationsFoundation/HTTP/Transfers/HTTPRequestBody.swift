internal import Foundation

/// What a request sends.
enum HTTPRequestBody: Sendable {
  case none
  case data(Data)
  case file(URL, byteCount: Int)

  var byteCount: Int {
    switch self {
    case .none: 0
    case .data(let data): data.count
    case .file(_, let count): count
    }
  }
}
