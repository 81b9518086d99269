/// A view of the files as they are now.
package struct FileView: Sendable {
  /// The files of some paths and patterns in a folder.
  var fingerprint: @Sendable (_ patterns: [GlobPattern], _ folder: String) throws -> FileFingerprint
  /// The files that match a text of a flow file in a folder, sorted.
  var files:
    @Sendable (_ text: FlowTemplate, _ values: [String: String], _ folder: String) throws ->
      [String]

  /// The hash of the contents of a file in a folder. See ``FileContents``.
  var hash: @Sendable (_ path: [UInt8], _ stamp: String, _ folder: String) throws -> String?

  package init(
    fingerprint: @escaping @Sendable ([GlobPattern], String) throws -> FileFingerprint,
    files: @escaping @Sendable (FlowTemplate, [String: String], String) throws -> [String],
    hash: @escaping @Sendable ([UInt8], String, String) throws -> String?
  ) {
    (self.fingerprint, self.files, self.hash) = (fingerprint, files, hash)
  }

  /// The files of this machine.
  package static var system: FileView {
    let contents = FileContents()
    return FileView(
      fingerprint: { try FileFingerprint(of: $0, in: $1) },
      files: { try GlobPattern.files($0, $1, in: $2) },
      hash: { try contents.hash(of: $0, stamp: $1, in: $2) })
  }
}
