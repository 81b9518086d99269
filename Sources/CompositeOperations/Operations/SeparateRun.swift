/// A modifier that runs the operation which it modifies as a child, not as the run that it is itself.
///
/// Observers of the modified operation see that child alone.
protocol SeparateRun {}
