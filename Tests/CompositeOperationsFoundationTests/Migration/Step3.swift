import CompositeOperations
import CompositeOperationsFoundation
import Foundation

enum Step3 {
  struct LoadAlbum: ComposableOperation {
    let album: String

    func perform(in context: OperationContext) async throws -> [String] {
      let load = SimpleOperation<[String]>.withCallback { finish in
        Studio().photos(of: album) { photos in
          finish(photos.map(Outcome.result) ?? .error(Studio.NoAlbum()))
        }
      }
      return try await context.run(load)
    }
  }

  final class ShrinkPhoto: Operation, @unchecked Sendable {
    let photo: String
    private(set) var small: String?

    init(_ photo: String) { self.photo = photo }

    override func main() { small = Studio().shrink(photo) }
  }

  struct PublishAlbum: ComposableOperation {
    let album: String

    func perform(in context: OperationContext) async throws -> String {
      let photos = try await context.run(LoadAlbum(album: album).retrying(attempts: 2))
      let shrinks = photos.map { photo in
        FoundationOperation {
          ShrinkPhoto(photo)
        } result: { shrink in
          shrink.small ?? photo
        }
      }
      let small = try await context.run(ParallelOperation(shrinks, width: .limited(to: 2)))
      return Studio().page(of: small)
    }
  }

  static let queue = OperationQueue()

  static func publish(_ album: String, completion: @escaping @Sendable (String?) -> Void) {
    let publish = QueueOperation(PublishAlbum(album: album))
    publish.completionBlock = { [unowned publish] in completion(publish.outcome?.result) }
    queue.addOperation(publish)
  }
}
