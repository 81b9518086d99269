internal import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking

  extension URLRequest {
    /// Sets a header.
    ///
    /// Replaces the method of Foundation, which ignores a value with a line break: a token that was
    /// read with the end of its line would be missing from the request, without an error. With this
    /// method, the request ends in an ``HTTPTransferError`` that names the header.
    ///
    /// ```swift
    /// import FoundationNetworking
    /// import HTTPOperations
    ///
    /// var request = URLRequest(url: url)
    /// request.setValue("Bearer 1234", forHTTPHeaderField: "Authorization")
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value. For nil, which removes the header, the method of Foundation is called.
    ///   - field: The name of the header, in any case.
    public mutating func setValue(_ value: String, forHTTPHeaderField field: String) {
      let optional: String? = value
      setValue(optional, forHTTPHeaderField: field)
      if self.value(forHTTPHeaderField: field) == value { return }
      // Foundation has ignored it. It checks single values, but not the dictionary.
      var fields = allHTTPHeaderFields ?? [:]
      for name in fields.keys where name.lowercased() == field.lowercased() { fields[name] = nil }
      fields[field] = value
      allHTTPHeaderFields = fields
    }
  }
#endif
