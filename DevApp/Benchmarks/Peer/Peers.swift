import Foundation

/// The peers that take part.
struct Peers {
  private(set) var running: [Peer] = []
  /// The problems of peers that do not take part.
  private(set) var problems: [String] = []

  init() {}

  /// Starts every program of a folder.
  ///
  /// - Parameters:
  ///   - files: The folder in which they create their files, if they need some.
  ///   - server: The address of the server of the `http` shapes, if they are measured.
  init(folder: String, files: String? = nil, server: String? = nil) throws(UsageError) {
    // Writing to a peer that has ended is an error of that peer, and does not end this process.
    signal(SIGPIPE, SIG_IGN)
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
      throw UsageError("--peers '\(folder)' cannot be read; expected a folder of programs")
    }
    Interruptions.endChildren()
    for name in names.sorted() {
      let path = URL(fileURLWithPath: folder).appendingPathComponent(name).path
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
        !isFolder.boolValue, FileManager.default.isExecutableFile(atPath: path)
      else { continue }
      do { running.append(try Peer(path: path, folder: files, server: server)) } catch {
        problems.append("peer \(name) \(error)")
      }
    }
  }

  func ways(for shape: Shape) -> [Way] { running.flatMap { $0.ways(for: shape) } }

  func end() { for peer in running { peer.end() } }
}
