import CompositeOperations
import Foundation
import HTTPOperations
import TestSupport

/// The kinds of HTTP operations, for tests of their common behavior.
enum Transfer: CaseIterable, Sendable {
  case data, download, upload

  func operation(
    on url: URL, in folder: TemporaryFolder, session: HTTPSession = .shared
  ) -> AnyOperation<Void> {
    switch self {
    case .data: AnyOperation(HTTPDataOperation(url, session: session).map { _ in })
    case .download:
      AnyOperation(
        HTTPDownloadOperation(url, to: folder["file"], session: session).map { _ in })
    case .upload:
      AnyOperation(
        HTTPUploadOperation(url, from: .data(Data(count: 1 << 20)), session: session).map { _ in })
    }
  }
}

/// Calls a function for every progress event.
final class BytesObserver: OperationObserver {
  private let onProgress: @Sendable () -> Void

  init(_ onProgress: @escaping @Sendable () -> Void) { self.onProgress = onProgress }

  func observe(_ event: OperationEvent) {
    if case .progressed = event.kind { onProgress() }
  }
}
