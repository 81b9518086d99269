import CompositeOperations
import CompositeOperationsFoundation
import Foundation

enum Step2 {
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

  final class MakePage: Operation, @unchecked Sendable {
    private(set) var page: String?

    override func main() {
      let photos = dependencies.compactMap { ($0 as? ShrinkPhoto)?.small }
      if !isCancelled { page = Studio().page(of: photos) }
    }
  }

  static let queue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 2
    return queue
  }()

  static func publish(_ album: String, completion: @escaping @Sendable (String?) -> Void) {
    let load = QueueOperation(LoadAlbum(album: album).retrying(attempts: 2))
    load.completionBlock = { [unowned load] in
      guard let photos = load.outcome?.result else { return completion(nil) }
      let page = MakePage()
      let shrinks = photos.map(ShrinkPhoto.init)
      for shrink in shrinks { page.addDependency(shrink) }
      page.completionBlock = { [unowned page] in completion(page.page) }
      queue.addOperations(shrinks + [page], waitUntilFinished: false)
    }
    queue.addOperation(load)
  }
}
