import SystemSupport
import Testing

struct ContentHashTests {
  private func hash(_ bytes: [UInt8], blocks size: Int = .max) -> String {
    var hash = ContentHash()
    var rest = bytes[...]
    while !rest.isEmpty {
      hash.append(Array(rest.prefix(size)).span)
      rest = rest.dropFirst(size)
    }
    return hash.text
  }

  // From FIPS 180-4 and RFC 6234.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `the hash is SHA-256`(text: String, expected: String) {
    #expect(hash(Array(text.utf8)) == expected)
  }

  @Test func `the hash is SHA-256 for all lengths up to 200`() {
    let hashes = (0...200).map { count in hash((0..<count).map { UInt8($0 % 251) }) }
    // Computed with Python's hashlib.
    #expect(
      hash(hashes.flatMap { Array($0.utf8) })
        == "b367ea311264aae50e6260b96a10761169ce3eec5d5f8f2258351f82c7252776")
  }

  @Test func `the sizes of the blocks do not matter`() {
    let bytes = (0..<1_000).map { UInt8($0 % 253) }
    for size in [1, 7, 63, 64, 65, 128, 999] {
      #expect(hash(bytes, blocks: size) == hash(bytes), "\(size)")
    }
  }
}
