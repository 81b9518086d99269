/// A composite that takes children while it runs. What it takes is told where operations are known.
protocol GrowingComposite: AnyObject, Sendable {}
