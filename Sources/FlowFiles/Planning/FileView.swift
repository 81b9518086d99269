/// A view of the files as they are now.
struct FileView: Sendable {
  /// The files of some paths and patterns in a folder.
  var fingerprint: @Sendable (_ patterns: [GlobPattern], _ folder: String) -> FileFingerprint
  /// The files that match a pattern in a folder, sorted.
  var files: @Sendable (_ pattern: GlobPattern, _ folder: String) -> [String]

  /// The files of this machine.
  static let system = FileView(
    fingerprint: { FileFingerprint(of: $0, in: $1) }, files: { $0.files(in: $1) })
}
