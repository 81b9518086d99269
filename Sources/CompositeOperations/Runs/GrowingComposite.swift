/// A composite that accepts children while it runs.
///
/// An environment refers to a ``Growth`` by this protocol, because it does not know operations.
protocol GrowingComposite: AnyObject, Sendable {}
