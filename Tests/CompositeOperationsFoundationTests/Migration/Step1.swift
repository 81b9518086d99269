import Foundation

enum Step1 {
  /// The usual subclass for asynchronous operations.
  class AsynchronousOperation: Operation, @unchecked Sendable {
    private let lock = NSLock()
    private var state = 0  // ready, executing, finished

    private func value(_ expected: Int) -> Bool {
      lock.lock()
      defer { lock.unlock() }
      return state == expected
    }

    private func become(_ next: Int) {
      willChangeValue(for: \.isExecuting)
      willChangeValue(for: \.isFinished)
      lock.lock()
      state = next
      lock.unlock()
      didChangeValue(for: \.isExecuting)
      didChangeValue(for: \.isFinished)
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { value(1) }
    override var isFinished: Bool { value(2) }

    override func start() {
      if isCancelled { return finish() }
      become(1)
      main()
    }

    func finish() { become(2) }
  }

  final class LoadAlbum: AsynchronousOperation, @unchecked Sendable {
    let album: String
    private(set) var photos: [String]?

    init(_ album: String) { self.album = album }

    override func main() {
      Studio().photos(of: album) { photos in
        self.photos = photos
        self.finish()
      }
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
    let load = LoadAlbum(album)
    load.completionBlock = { [unowned load] in
      guard let photos = load.photos else { return completion(nil) }
      let page = MakePage()
      let shrinks = photos.map(ShrinkPhoto.init)
      for shrink in shrinks { page.addDependency(shrink) }
      page.completionBlock = { [unowned page] in completion(page.page) }
      queue.addOperations(shrinks + [page], waitUntilFinished: false)
    }
    queue.addOperation(load)
  }
}
