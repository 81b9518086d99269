/// Why an object of a file is none, or none whose fields a record can have.
struct JSONSyntaxError: Error {
  let text: String

  init(_ text: String) { self.text = text }
}
