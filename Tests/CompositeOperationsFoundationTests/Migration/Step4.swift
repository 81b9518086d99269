import CompositeOperations
import CompositeOperationsFoundation

enum Step4 {
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

  struct PublishAlbum: ComposableOperation {
    let album: String

    func perform(in context: OperationContext) async throws -> String {
      let photos = try await context.run(LoadAlbum(album: album).retrying(attempts: 2))
      let shrinks = photos.map { photo in BlockingOperation { Studio().shrink(photo) } }
      let small = try await context.run(ParallelOperation(shrinks, width: .limited(to: 2)))
      return Studio().page(of: small)
    }
  }

  static func publish(_ album: String) async throws -> String {
    try await PublishAlbum(album: album).timingOut(after: .seconds(30)).run().get()
  }
}
