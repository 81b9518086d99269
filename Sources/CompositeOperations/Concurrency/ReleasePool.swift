#if canImport(ObjectiveC)
  internal import ObjectiveC
#endif

/// Calls user code on a thread of the package, inside an autorelease pool on platforms that have
/// them.
func withReleasePool(_ body: () -> Void) {
  #if canImport(ObjectiveC)
    autoreleasepool(invoking: body)
  #else
    body()
  #endif
}
