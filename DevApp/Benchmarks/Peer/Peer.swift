import Foundation
import Synchronization

/// A program that does the work of some shapes with another engine, by the protocol in the README
/// of the peers.
final class Peer: Sendable {
  /// The timeout of a request in seconds, which is longer than any way may take.
  private static let timeoutSeconds = 60

  private static let shapes: Set = [
    "fan-out", "busy", "chain", "nested", "pairs", "eights", "fib", "graph-fan", "graph-chain",
    "sleep", "flow", "flows", "http-1", "http-8", "http-64", "http-to-memory", "http-to-file",
    "http-cancel", "http-cancel-body", "http-cancel-64",
  ]

  struct Offer: Sendable {
    let shape: String
    let name: String
  }

  let name: String
  let offers: [Offer]
  /// Nil after the end of the process.
  private let process: Mutex<ChildProcess?>

  /// - Parameters:
  ///   - folder: Where the peer creates its files, if it needs some.
  ///   - server: The address of the server of the `http` shapes, if they are measured.
  init(path: String, folder: String? = nil, server: String? = nil) throws {
    name = URL(fileURLWithPath: path).lastPathComponent
    var environment = ProcessInfo.processInfo.environment
    environment["PEER_WORKERS"] = "\(Cores.count)"
    environment["PEER_FOLDER"] = folder
    environment["PEER_SERVER"] = server
    var child = try ChildProcess(path: path, environment: environment)
    var offers: [Offer] = []
    do {
      while let offer = try Self.readOffer(from: &child.channel) { offers.append(offer) }
    } catch {
      throw BenchmarkError(Self.describe(error, endOf: child))
    }
    child.stop()
    self.offers = offers
    process = Mutex(child)
  }

  /// Returns the ways for a shape, with names that are unique in it; none after the end of the
  /// process.
  func ways(for shape: Shape) -> [Way] {
    if process.withLock({ $0 == nil }) { return [] }
    return offers.indices.filter { shape.peerShapes.contains(offers[$0].shape) }.map { number in
      let offer = offers[number]
      let isTaken = offers.contains {
        $0.name == offer.name && $0.shape != offer.shape
          && shape.peerShapes.contains($0.shape)
      }
      var name = offer.name
      if isTaken, offer.shape.hasPrefix("graph") { name += " (\(offer.shape))" }
      if shape.ways.contains(where: { $0.name == name }) { name += " of \(self.name)" }
      return .blocking(
        name, .peer,
        sampling: {
          try self.sample(number, count: shape.operations)
        })
    }
  }

  func end() {
    process.withLock { process in
      process?.end()
      process = nil
    }
  }

  /// Runs a way once.
  ///
  /// - Throws: A ``BenchmarkError`` that names the peer.
  func sample(_ number: Int, count: Int) throws -> Sample {
    try process.withLock { process in
      guard var child = process else { throw BenchmarkError("peer \(name) has ended") }
      child.resume()
      let answer: String
      do {
        try child.channel.write("\(number) \(count)")
        answer = try child.channel.read(within: Self.timeoutSeconds)
      } catch {
        process = nil
        throw BenchmarkError("peer \(name) " + Self.describe(error, endOf: child))
      }
      child.stop()
      process = child
      if answer.hasPrefix("error ") {
        throw BenchmarkError("peer \(name) failed: \(answer.dropFirst("error ".count))")
      }
      if let sample = Self.sample(answer) { return sample }
      // Further answers could belong to other requests.
      child.end()
      process = nil
      throw BenchmarkError(
        "peer \(name) answered '\(answer)'; expected nanoseconds, above 0 and at most a minute, "
          + "and a checksum")
    }
  }

  /// - Returns: The sample in a line; nil if the line is invalid.
  private static func sample(_ answer: String) -> Sample? {
    let parts = answer.split(separator: " ")
    guard parts.count == 2, let nanoseconds = Double(parts[0]), nanoseconds > 0,
      nanoseconds <= Double(timeoutSeconds) * 1e9,
      // Some languages have only signed numbers.
      let checksum = UInt64(parts[1]) ?? Int64(parts[1]).map(UInt64.init(bitPattern:))
    else { return nil }
    return Sample(amount: nanoseconds, checksum: checksum)
  }

  /// - Returns: The next way of the peer; nil if there are no more.
  private static func readOffer(from channel: inout LineChannel) throws -> Offer? {
    let line = try channel.read(within: timeoutSeconds)
    if line == "ready" { return nil }
    let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, parts[0] == "way", !parts[2].isEmpty else {
      throw BenchmarkError("printed '\(line)' at its start; expected a way or ready")
    }
    let isPrintable = line.unicodeScalars.allSatisfy {
      $0 == "\t" || $0.properties.generalCategory != .control && $0 != "\u{FFFD}"
    }
    guard isPrintable else {
      throw BenchmarkError("has a way with an unprintable name: \(parts[2].debugDescription)")
    }
    guard shapes.contains(parts[1]) else {
      throw BenchmarkError("has a way of the unknown shape '\(parts[1])'")
    }
    return Offer(shape: parts[1], name: parts[2])
  }

  /// Ends a process that did not answer as expected, and describes what it did.
  private static func describe(_ error: any Error, endOf child: ChildProcess) -> String {
    let end = child.end()
    return switch error {
    case LineChannel.Failure.closed: "ended without an answer (\(end))"
    case LineChannel.Failure.late(let seconds): "did not answer within \(seconds) seconds"
    default: "\(error)"
    }
  }
}
