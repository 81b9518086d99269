internal import RecordOperations

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Date {
  /// The date as PostgreSQL reads it, `2026-11-22 12:03:04.123+00`, in the Gregorian calendar also
  /// before 1582.
  ///
  /// - Precondition: The date has a year from 1 to 9999.
  var postgresText: String {
    let milliseconds = Int((timeIntervalSince1970 * 1_000).rounded())
    let day = 86_400_000
    let days = milliseconds >= 0 ? milliseconds / day : (milliseconds - day + 1) / day
    let time = milliseconds - days * day
    let (year, month, dayOfMonth) = Self.gregorian(days)
    func digits(_ number: Int, _ count: Int) -> String {
      let text = "\(number)"
      return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
    return digits(year, 4) + "-" + digits(month, 2) + "-" + digits(dayOfMonth, 2) + " "
      + digits(time / 3_600_000, 2) + ":" + digits(time / 60_000 % 60, 2) + ":"
      + digits(time / 1_000 % 60, 2) + "." + digits(time % 1_000, 3) + "+00"
  }

  /// Returns the date of a number of days since 1970.
  ///
  /// The algorithm is `civil_from_days` of <https://howardhinnant.github.io/date_algorithms.html>.
  /// Its years begin in March, and its eras have 400 years. Day 0 of an era is a March 1st.
  private static func gregorian(_ days: Int) -> (year: Int, month: Int, day: Int) {
    // The year 0 begins an era, so the number is not negative from the year 1.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }
}
