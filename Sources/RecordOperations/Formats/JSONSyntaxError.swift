/// An error in the syntax of an object, or for values that no field can hold.
struct JSONSyntaxError: Error {
  let text: String

  init(_ text: String) { self.text = text }
}
