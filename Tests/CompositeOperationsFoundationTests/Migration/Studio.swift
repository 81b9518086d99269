import Foundation

/// The functions that the flow of the article calls.
struct Studio: Sendable {
  struct NoAlbum: Error {}

  func photos(of album: String, _ completion: @escaping @Sendable ([String]?) -> Void) {
    DispatchQueue.global().async {
      completion(album == "none" ? nil : ["\(album)-1", "\(album)-2"])
    }
  }

  /// Blocks its thread.
  func shrink(_ photo: String) -> String { "small \(photo)" }

  func page(of photos: [String]) -> String { photos.joined(separator: ", ") }
}
