/// The version of the package, as traces and the demo show it.
package enum PackageVersion {
  /// The version of the newest section in `CHANGELOG.md`.
  package static let current = "0.1.0"
}
