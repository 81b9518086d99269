// The entry point of the tests, in place of the one that the package manager generates. To find
// classes of XCTest, that one needs an index of all sources, which takes a quarter of the time of a
// build in debug. All tests of this package use Swift Testing; the package in Tests/UserPackage has
// tests that use XCTest.
import Testing
import XCTest

@main struct TestMain {
  static func main() async {
    let arguments = CommandLine.arguments
    if let option = arguments.firstIndex(of: "--testing-library"),
      arguments[option...].dropFirst().first == "swift-testing"
    {
      await Testing.__swiftPMEntryPoint() as Never
    }
    XCTMain([])
  }
}
