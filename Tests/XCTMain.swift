// The entry point of the tests, in place of the one that the package manager generates. To find
// classes of XCTest, that one needs an index of all sources, which takes a quarter of the time of a
// build in debug. All tests of this package use Swift Testing; the package in Tests/UserPackage has
// tests that use XCTest.
import Foundation
import Testing

@main struct TestMain {
  static func main() async {
    let arguments = CommandLine.arguments
    let option = arguments.firstIndex(of: "--testing-library")
    if option.map({ arguments[$0...].dropFirst().first == "swift-testing" }) != true {
      // If the tests have an entry point of their own, `swift test` enables only XCTest. Without this
      // error it would succeed, although no test has run.
      let text = """
        error: no test uses XCTest; run `make test`, or
        swift test --disable-xctest --enable-swift-testing

        """
      try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
      exit(1)
    }
    await Testing.__swiftPMEntryPoint() as Never
  }
}
