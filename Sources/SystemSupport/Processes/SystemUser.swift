/// A user of this machine.
package enum SystemUser {
  /// The number of the user with whose rights this process runs.
  package static var current: UInt32 { geteuid() }

  /// Returns the name of a user, or the number if the system knows no name.
  package static func name(of number: UInt32) -> String {
    var (user, found) = unsafe (passwd(), UnsafeMutablePointer<passwd>?.none)
    var buffer = [CChar](repeating: 0, count: 16_384)
    let code = unsafe getpwuid_r(number, &user, &buffer, buffer.count, &found)
    guard code == 0, unsafe found != nil, let name = unsafe user.pw_name else { return "\(number)" }
    return unsafe String(cString: name)
  }
}
