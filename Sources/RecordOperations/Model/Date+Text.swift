#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension Date {
  private static let style = ISO8601FormatStyle(includingFractionalSeconds: true)

  /// The moments whose text sorts as they do: from the year 1 to the year 9999.
  static let texts =
    Date(timeIntervalSince1970: -62_135_596_800)..<Date(timeIntervalSince1970: 253_402_300_800)

  /// It as ISO 8601 has it, in UTC and with milliseconds: `2026-11-22T12:03:04.123Z`.
  var text: String {
    // The style leaves out what is below a millisecond, and most of those are not exactly a `Double`.
    addingTimeInterval(0.000_5).formatted(Self.style)
  }

  /// The moment whose text this is; nil if it is that of none.
  init?(text: String) {
    guard let date = try? Date(text, strategy: Self.style) else { return nil }
    self = date.toTheMillisecond
    // The 30th of February is read as the 2nd of March.
    guard self.text == text else { return nil }
  }

  /// The moment that a text in a file is: as ``text`` has it, without milliseconds, `2026-11-22T12:03:04Z`, or the
  /// beginning of a day in UTC, `2026-11-22`; nil if it is none.
  package init?(importedText text: String) {
    if let date = Date(text: text) {
      self = date
      return
    }
    for style in [ISO8601FormatStyle(), ISO8601FormatStyle().year().month().day()] {
      guard let date = try? Date(text, strategy: style), date.formatted(style) == text else {
        continue
      }
      self = date
      return
    }
    return nil
  }

  var toTheMillisecond: Date {
    Date(timeIntervalSince1970: (timeIntervalSince1970 * 1_000).rounded() / 1_000)
  }
}
