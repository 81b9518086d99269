import CompositeOperations
import FlowFiles
import Foundation
import SystemSupport
import TestSupport
import Testing

struct FileContentsTests {
  private func hash(ofLetters count: Int) -> String {
    var hash = ContentHash()
    hash.append([UInt8](repeating: UInt8(ascii: "x"), count: count).span)
    return hash.text
  }

  @Test func `L21: a file that changes while it is read has no hash`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(String(repeating: "x", count: 50_000), to: "file")
    let contents = FileContents()
    func check() throws -> Bool {
      let status = try FileStatus(ofFile: file.path)
      let found = try contents.hash(
        of: Array("file".utf8), stamp: status.stamp, in: folder.path)
      // All letters are the same, so the size decides.
      if let found { #expect(found == hash(ofLetters: status.size)) }
      return found != nil
    }
    let isStopped = Lock(false)
    let writer = Thread {
      let handle = try? FileHandle(forWritingTo: file)
      _ = try? handle?.seekToEnd()
      while !isStopped.withLock(\.self) { try? handle?.write(contentsOf: Data("x".utf8)) }
      isStopped.withLock { $0 = false }
    }
    writer.start()
    for _ in 0..<20 { _ = try check() }
    isStopped.withLock { $0 = true }
    while isStopped.withLock(\.self) { Thread.sleep(forTimeInterval: 0.001) }
    #expect(try check())
    let status = try FileStatus(ofFile: file.path)
    #expect(try contents.hash(of: Array("file".utf8), stamp: "1 2 3", in: folder.path) == nil)
    #expect(try contents.hash(of: Array("none".utf8), stamp: status.stamp, in: folder.path) == nil)
  }
}
