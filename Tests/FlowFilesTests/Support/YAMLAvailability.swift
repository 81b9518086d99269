import Testing

/// Whether libyaml was there at build time.
let hasYAML: Bool = {
  #if canImport(CYAML)
    true
  #else
    false
  #endif
}()

extension Trait where Self == ConditionTrait {
  /// Skips the test without libyaml.
  static var needsYAML: Self { .enabled(if: hasYAML, "libyaml was missing at build time") }
}
