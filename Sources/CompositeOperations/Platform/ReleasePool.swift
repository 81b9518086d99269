#if canImport(ObjectiveC)
  internal import ObjectiveC
#endif

/// Calls user code on a thread of the package, and releases what it has left to an autorelease pool, where there are any.
func withReleasePool(_ body: () -> Void) {
  #if canImport(ObjectiveC)
    autoreleasepool(invoking: body)
  #else
    body()
  #endif
}
