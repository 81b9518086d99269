#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension Date {
  private static let style = ISO8601FormatStyle(includingFractionalSeconds: true)

  /// The dates whose texts sort in their order: from the year 1 to the year 9999.
  package static let texts =
    Date(timeIntervalSince1970: -62_135_596_800)..<Date(timeIntervalSince1970: 253_402_300_800)

  /// The date in ISO 8601, in UTC and with milliseconds: `2026-11-22T12:03:04.123Z`.
  package var text: String {
    // The style truncates to milliseconds, and most milliseconds are not exactly a `Double`.
    addingTimeInterval(0.000_5).formatted(Self.style)
  }

  /// A text that sorts among the texts of other dates as this date does, even if it has no
  /// ``text``.
  var boundText: String {
    Self.texts.contains(self) ? text : self < Self.texts.lowerBound ? "" : ":"
  }

  /// Creates a date from its ``text``; `nil` for any other text.
  package init?(text: String) {
    guard let date = try? Date(text, strategy: Self.style) else { return nil }
    self = date.toTheMillisecond
    // February 30 is parsed as March 2.
    guard self.text == text else { return nil }
  }

  /// Creates a date from text in a file: as in ``text``, without milliseconds,
  /// `2026-11-22T12:03:04Z`, or without the time, `2026-11-22`, for the beginning of the day in
  /// UTC. `nil` for any other text, and for a year before 1 or after 9999.
  package init?(importedText text: String) {
    // Another year would not sort as text. The formatter's year 1 begins before the one of `texts`.
    guard text.utf8.dropFirst(4).first == UInt8(ascii: "-"), !text.hasPrefix("0000") else {
      return nil
    }
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
