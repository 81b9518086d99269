/// The children of a parallel run and the memory for their results, by address, so that running a
/// child neither copies nor counts it.
// Sendable, and safe to pass around: the arrays and the memory behind the addresses outlive the
// run (`withList` and its callers see to that), nobody writes to the arrays, and every slot is
// written by the one task that runs its child.
@safe enum ChildList<Child: ComposableOperation>: @unchecked Sendable {
  /// Children of one type; results side by side.
  case uniform(UnsafePointer<Child>, results: UnsafeMutablePointer<Child.Success>)
  /// Children of any type with results of one type; results side by side.
  case erased(
    UnsafePointer<any ComposableOperation<Child.Success>>,
    results: UnsafeMutablePointer<Child.Success>)
  /// Children with results of any type; a slot each.
  case mixed(UnsafePointer<any ComposableOperation>, slots: UnsafePointer<ResultSlot>)
}
