// swift-tools-version: 6.2
import Foundation
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .strictMemorySafety(),
]

// In release, only the library is optimized, and not its tests, which then compile faster. The
// tests of the core and of call sites are optimized, because the modules of users specialize the engine.
let strictTests = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

let package = Package(
  name: "CompositeOperations",
  platforms: [.macOS(.v26), .iOS(.v26), .tvOS(.v26), .watchOS(.v26), .visionOS(.v26)],
  products: [
    .library(name: "CloudKitOperations", targets: ["CloudKitOperations"]),
    .library(name: "CommandLineOperations", targets: ["CommandLineOperations"]),
    .library(name: "CompositeOperations", targets: ["CompositeOperations"]),
    .library(
      name: "CompositeOperationsFoundation", targets: ["CompositeOperationsFoundation"]),
    .library(name: "CompositeOperationsTestKit", targets: ["CompositeOperationsTestKit"]),
    .library(name: "DurableOperations", targets: ["DurableOperations"]),
    .library(name: "DurableOperationsTestKit", targets: ["DurableOperationsTestKit"]),
    .library(name: "DurableRecords", targets: ["DurableRecords"]),
    .library(name: "FlowFiles", targets: ["FlowFiles"]),
    .library(name: "HTTPOperations", targets: ["HTTPOperations"]),
    .library(name: "HTTPOperationsTestKit", targets: ["HTTPOperationsTestKit"]),
    .library(name: "OperationTracing", targets: ["OperationTracing"]),
    .library(name: "RecordOperations", targets: ["RecordOperations"]),
    .executable(name: "coop", targets: ["coop"]),
  ],
  targets: [
    // The threads and clocks that the core uses. A module of its own, because a package that uses only the
    // core waits for this one before it compiles the core.
    .target(name: "ThreadSupport", dependencies: ["CProcesses"], swiftSettings: strict),
    .target(
      name: "SystemSupport", dependencies: ["CProcesses", "ThreadSupport"], swiftSettings: strict),
    .target(name: "CProcesses"),
    .target(name: "CompositeOperations", dependencies: ["ThreadSupport"], swiftSettings: strict),
    .target(
      name: "OperationTracing", dependencies: ["CompositeOperations", "SystemSupport"],
      resources: [.embedInCode("Timeline/Page")], swiftSettings: strict),
    .target(
      name: "CompositeOperationsFoundation",
      dependencies: ["CompositeOperations", "CProcesses", "OperationTracing", "SystemSupport"],
      swiftSettings: strict),
    .target(
      name: "HTTPOperations",
      dependencies: [
        "CompositeOperations", "CompositeOperationsFoundation", "OperationTracing", "SystemSupport",
        .target(name: "CCurl", condition: .when(platforms: [.linux])), "CZlib",
      ],
      swiftSettings: strict),
    .target(
      name: "HTTPOperationsTestKit", dependencies: ["CompositeOperations", "HTTPOperations"],
      swiftSettings: strict),
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "RecordOperations",
      dependencies: ["CompositeOperations", "SQLiteSupport", "SystemSupport"],
      swiftSettings: strict),
    .target(
      name: "CloudKitOperations",
      dependencies: ["CompositeOperations", "HTTPOperations", "RecordOperations", "SystemSupport"],
      swiftSettings: strict),
    .target(
      name: "SQLiteSupport", dependencies: ["CompositeOperations", "CSQLite", "SystemSupport"],
      swiftSettings: strict),
    .target(
      name: "DurableOperations",
      dependencies: ["CompositeOperations", "SQLiteSupport", "SystemSupport"],
      swiftSettings: strict),
    .target(
      name: "DurableOperationsTestKit",
      dependencies: ["CompositeOperations", "DurableOperations"],
      swiftSettings: strict),
    .target(
      name: "DurableRecords",
      dependencies: [
        "CompositeOperations", "DurableOperations", "RecordOperations", "SQLiteSupport",
      ],
      swiftSettings: strict),
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .target(
      name: "FlowFiles",
      dependencies: [
        "CompositeOperations", "CompositeOperationsFoundation", "SQLiteSupport", "SystemSupport",
      ],
      swiftSettings: strict),
    .target(
      name: "RunPage",
      dependencies: [
        "CompositeOperations", "DurableOperations", "FlowFiles", "OperationTracing",
        "SQLiteSupport", "SystemSupport",
      ],
      resources: [.embedInCode("Files")], swiftSettings: strict),
    .target(
      name: "CompositeOperationsTestKit", dependencies: ["CompositeOperations", "SystemSupport"],
      swiftSettings: strict),
    .target(
      name: "CommandLineOperations",
      dependencies: ["CompositeOperations", "OperationTracing", "SystemSupport"],
      swiftSettings: strict),
    // The tool that people install.
    .executableTarget(
      name: "coop",
      dependencies: [
        "CommandLineOperations", "CompositeOperations", "CompositeOperationsFoundation",
        "DurableOperations", "FlowFiles", "HeapUse", "OperationTracing", "RecordOperations",
        "RunPage", "SQLiteSupport", "SystemSupport",
      ],
      exclude: ["Cluster/with-server"], swiftSettings: strict),
    // It uses only products, and no `package` declarations, as a package of a user does.
    .executableTarget(
      name: "DevApp",
      dependencies: [
        "CommandLineOperations", "CompositeOperations", "CompositeOperationsFoundation",
        "DurableOperations", "HTTPOperations", "OperationTracing",
      ],
      path: "DevApp/Demo", packageAccess: false, swiftSettings: strict),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CompositeOperations", "CompositeOperationsFoundation", "DurableOperations", "Epoll",
        "HTTPOperations", "HeapUse", "OperationTracing", "RecordOperations", "SQLiteSupport",
        "SystemSupport",
      ],
      path: "DevApp/Benchmarks",
      exclude: [
        "Epoll", "Floors", "Heap", "Peers", "README.md", "exact", "flows", "records",
        "without-events.patch",
      ]),
    .systemLibrary(name: "Epoll", path: "DevApp/Benchmarks/Epoll"),
    .systemLibrary(name: "HeapUse", path: "DevApp/Benchmarks/Heap"),
    .testTarget(
      name: "CompositeOperationsTests",
      dependencies: [
        "CompositeOperations", "CompositeOperationsTestKit", "OperationTracing", "SystemSupport",
        "TestSupport",
      ],
      exclude: ["Support/check-formats.py"], swiftSettings: strict),
    .testTarget(
      name: "CompositeOperationsFoundationTests",
      dependencies: [
        "CompositeOperations", "CompositeOperationsFoundation", "CompositeOperationsTestKit",
        "SystemSupport", "TestSupport",
      ],
      swiftSettings: strictTests),
    // Tests send it signals.
    .executableTarget(
      name: "SignalledProgram",
      dependencies: ["CompositeOperations", "CompositeOperationsFoundation"],
      path: "Tests/SignalledProgram", swiftSettings: strict),
    .testTarget(
      name: "HTTPOperationsTests",
      dependencies: [
        "CompositeOperations", "CompositeOperationsFoundation", "CompositeOperationsTestKit",
        "CZlib", "HTTPOperations", "HTTPOperationsTestKit", "HeapUse", "LoopbackServer",
        "OperationTracing", "SystemSupport", "TestSupport",
      ],
      swiftSettings: strictTests),
    .testTarget(
      name: "RecordOperationsTests",
      dependencies: [
        "CloudKitOperations", "CompositeOperations", "CompositeOperationsTestKit", "FakeCloudKit",
        "RecordOperations", "SQLiteSupport", "SystemSupport", "TestSupport",
      ],
      swiftSettings: strictTests),
    .testTarget(
      name: "CloudKitOperationsTests",
      dependencies: [
        "CloudKitOperations", "CompositeOperations", "CompositeOperationsTestKit", "FakeCloudKit",
        "HTTPOperations", "LoopbackServer", "RecordOperations", "TestSupport",
      ],
      swiftSettings: strictTests),
    // A server as Apple's reference describes iCloud.
    .target(
      name: "FakeCloudKit",
      dependencies: ["CompositeOperations", "LoopbackServer"],
      path: "Tests/FakeCloudKit", swiftSettings: strict),
    .testTarget(
      name: "SQLiteSupportTests",
      dependencies: ["CompositeOperationsTestKit", "SQLiteSupport", "SystemSupport"],
      swiftSettings: strictTests),
    .testTarget(
      name: "DurableOperationsTests",
      dependencies: [
        "CompositeOperations", "CompositeOperationsTestKit", "DurableOperations",
        "DurableOperationsTestKit", "DurableTestSupport", "SQLiteSupport", "TestSupport",
      ], swiftSettings: strictTests),
    .testTarget(
      name: "DurableRecordsTests",
      dependencies: [
        "CompositeOperations", "CompositeOperationsTestKit", "DurableOperations",
        "DurableOperationsTestKit", "DurableRecords", "DurableTestSupport", "RecordOperations",
        "SQLiteSupport",
      ], swiftSettings: strictTests),
    // Stores that fail, and programs that are killed.
    .target(
      name: "DurableTestSupport",
      dependencies: ["CompositeOperations", "DurableOperations", "SQLiteSupport", "TestSupport"],
      path: "Tests/DurableTestSupport", swiftSettings: strict),
    .testTarget(
      name: "FlowFilesTests",
      dependencies: [
        "CompositeOperations", "CompositeOperationsFoundation", "FlowFiles", "SQLiteSupport",
        "SystemSupport", "TestSupport",
      ],
      swiftSettings: strictTests),
    // Tests kill it.
    .executableTarget(
      name: "RecordCrashes",
      dependencies: ["CompositeOperations", "RecordOperations", "SQLiteSupport"],
      path: "Tests/RecordCrashes", swiftSettings: strict),
    // Tests kill it.
    .executableTarget(
      name: "FlowCrashes",
      dependencies: [
        "CompositeOperations", "DurableOperations", "DurableRecords", "RecordOperations",
        "SQLiteSupport",
      ],
      path: "Tests/FlowCrashes", swiftSettings: strict),
    // Programs that tests run, temporary folders and the like.
    .target(
      name: "TestSupport", dependencies: ["CProcesses", "CompositeOperations", "SystemSupport"],
      path: "Tests/TestSupport", swiftSettings: strict),
    .target(
      name: "LoopbackServer", dependencies: ["CompositeOperations"], path: "Tests/LoopbackServer",
      swiftSettings: strict),
    // No test depends on it: its objects, and so its `malloc`, would go into the bundle of all tests.
    .executableTarget(
      name: "AllocationCounts",
      dependencies: ["CAllocationCounter", "CompositeOperations", "CompositeOperationsTestKit"],
      path: "Tests/AllocationCounts", swiftSettings: strict),
    .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
    // As the modules of users are compiled: with the compiler's own settings, in either language mode.
    .testTarget(name: "CallSitesTests", dependencies: ["CompositeOperations"]),
    .testTarget(
      name: "CallSitesSwift5Tests", dependencies: ["CompositeOperations"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "CommandLineOperationsTests",
      dependencies: [
        "CommandLineOperations", "CompositeOperations", "OperationTracing", "SystemSupport",
        "TestSupport",
      ],
      swiftSettings: strictTests),
    .testTarget(
      name: "CoopTests",
      dependencies: [
        "CompositeOperations", "DurableOperations", "HTTPOperations", "RunPage", "SQLiteSupport",
        "SystemSupport", "TestSupport", "coop",
      ],
      swiftSettings: strictTests),
    .testTarget(
      name: "DevAppTests",
      dependencies: ["DevApp", "LoopbackServer", "SQLiteSupport", "TestSupport", "coop"],
      swiftSettings: strictTests),
  ],
  swiftLanguageModes: [.v6]
)

// PostgresOperations needs libpq; without its header, the rest of the package builds without it. The
// package manager remembers this answer: after an installation of libpq, `swift package purge-cache`
// asks again.
let headersOfPostgres = ["", "postgresql/", "pgsql/"].flatMap { folder in
  ["/usr/include", "/usr/local/include", "/opt/homebrew/opt/libpq/include"].map {
    "\($0)/\(folder)libpq-fe.h"
  }
}
if headersOfPostgres.contains(where: FileManager.default.fileExists) {
  package.products.append(
    .library(name: "PostgresOperations", targets: ["PostgresOperations"]))
  // The tests of durable runs and of record databases also run on PostgreSQL, `coop` takes
  // addresses, and the benchmarks measure it.
  let users = ["Benchmarks", "DurableOperationsTests", "RecordOperationsTests", "coop"]
  for target in package.targets where users.contains(target.name) {
    target.dependencies.append("PostgresOperations")
  }
  package.targets.first { $0.name == "RecordOperationsTests" }?.dependencies
    .append("PostgresTestSupport")
  package.targets += [
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(
      name: "PostgresOperations",
      dependencies: [
        "CompositeOperations", "CPostgres", "DurableOperations", "RecordOperations",
        "SystemSupport",
      ],
      swiftSettings: strict),
    // Tests kill it.
    .executableTarget(
      name: "ClusterCrashes",
      dependencies: ["CompositeOperations", "DurableOperations", "PostgresOperations"],
      path: "Tests/ClusterCrashes", swiftSettings: strict),
    // A socket in front of a server that cuts connections.
    .target(
      name: "PostgresTestSupport", dependencies: ["CompositeOperations"],
      path: "Tests/PostgresTestSupport", swiftSettings: strict),
    .testTarget(
      name: "PostgresOperationsTests",
      dependencies: [
        "CompositeOperations", "CompositeOperationsTestKit", "DurableOperations", "DurableRecords",
        "OperationTracing", "PostgresOperations", "PostgresTestSupport", "RecordOperations",
        "SQLiteSupport", "SystemSupport", "TestSupport",
      ], swiftSettings: strictTests),
  ]
}

// FlowFiles reads YAML with libyaml; without its header, it reads only JSON. As for libpq, the package
// manager remembers this answer.
let headersOfYAML = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"].map {
  "\($0)/yaml.h"
}
if headersOfYAML.contains(where: FileManager.default.fileExists) {
  let users = ["CoopTests", "FlowFiles", "FlowFilesTests"]
  for target in package.targets where users.contains(target.name) {
    target.dependencies.append(
      .target(name: "CYAML", condition: .when(platforms: [.linux, .macOS])))
  }
  package.targets.append(
    .systemLibrary(
      name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]))
}

// CloudKitOperations signs with libcrypto; without its header, it has no server-to-server keys. As for
// libpq, the package manager remembers this answer.
let headersOfCrypto = ["/usr/include", "/usr/local/include"].map { "\($0)/openssl/evp.h" }
if headersOfCrypto.contains(where: FileManager.default.fileExists) {
  let users = ["CloudKitOperations", "CloudKitOperationsTests", "FakeCloudKit"]
  for target in package.targets where users.contains(target.name) {
    target.dependencies.append(.target(name: "CCrypto", condition: .when(platforms: [.linux])))
  }
  package.targets.append(
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]))
}

// HTTPServing serves HTTP with libmicrohttpd; without its header, there is no such module. As for
// libpq, the package manager remembers this answer.
let headersOfMicrohttpd = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"].map {
  "\($0)/microhttpd.h"
}
if headersOfMicrohttpd.contains(where: FileManager.default.fileExists) {
  for target in package.targets where ["RunPage", "coop"].contains(target.name) {
    target.dependencies.append("HTTPServing")
  }
  package.targets += [
    .systemLibrary(
      name: "CMicrohttpd", pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
    .target(
      name: "HTTPServing", dependencies: ["CMicrohttpd", "CompositeOperations", "SystemSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "HTTPServingTests",
      dependencies: [
        "CompositeOperations", "HTTPServing", "HeapUse", "SystemSupport", "TestSupport",
      ],
      swiftSettings: strictTests),
  ]
}
