// swift-tools-version: 6.2
import PackageDescription

// A package that depends on this one, with a module for each language mode and default settings.
// `.ci/user-package` builds, runs and tests it.
let package = Package(
  name: "UserPackage",
  platforms: [.macOS(.v26), .iOS(.v26), .tvOS(.v26), .watchOS(.v26), .visionOS(.v26)],
  dependencies: [.package(name: "CompositeOperations", path: "../..")],
  targets: [
    .executableTarget(
      name: "Swift6User",
      dependencies: [.product(name: "CompositeOperations", package: "CompositeOperations")]),
    .executableTarget(
      name: "Swift5User",
      dependencies: [.product(name: "CompositeOperations", package: "CompositeOperations")],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    // The first program of the README, with the manifest that the README shows.
    .executableTarget(
      name: "ReadmeUser",
      dependencies: [.product(name: "CompositeOperations", package: "CompositeOperations")]),
    // As users write their tests who have not left XCTest.
    .testTarget(
      name: "XCTestUserTests",
      dependencies: [
        .product(name: "CompositeOperations", package: "CompositeOperations"),
        .product(name: "CompositeOperationsTestKit", package: "CompositeOperations"),
      ]),
  ]
)
