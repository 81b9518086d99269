import CompositeOperations
import Foundation

@main struct Main {
  static func main() async throws {
    print(await CallSites.sequence())
    let (profile, issues) = try await CallSites.pack(
      user: "octocat", repository: Repository(name: "octocat/a"))
    print(profile.name, issues.map(\.title))
    let urls = ["a", "b"].compactMap { URL(string: "http://localhost/\($0)") }
    print(try await CallSites.lazily(urls: urls).run().get().map(\.url.path))
    print(await CallSites.chain())
    let legacy = CallSites.callback(of: OldAPI(answer: (Data([1, 2, 3]), nil)))
    print(try await legacy.run().get().count)
  }
}
