/// A private key that signs with ECDSA on the curve P-256 and SHA-256 (ES256, RFC 7518), in DER.
///
/// On Linux with libcrypto, on Apple platforms with CryptoKit.
#if canImport(CCrypto)
  internal import CCrypto

  struct ECDSASigner: Sendable {
    /// The key is read again for each signature, which costs little beside a request, so that no
    /// memory of libcrypto is shared.
    private let pem: [UInt8]

    init(pem: String) throws(CloudKitKeyError) {
      self.pem = Array(pem.utf8)
      _ = try unsafe withKey { _ in }
    }

    static func digest(of message: [UInt8]) -> [UInt8] {
      var digest = [UInt8](repeating: 0, count: 32)
      let isDone = unsafe message.withUnsafeBytes { bytes in
        unsafe EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, EVP_sha256(), nil)
      }
      precondition(isDone == 1, "libcrypto has no SHA-256")
      return digest
    }

    func signature(of message: [UInt8]) throws(CloudKitKeyError) -> [UInt8] {
      try unsafe withKey { key throws(CloudKitKeyError) in
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        // A signature of P-256 in DER has at most 72 bytes.
        var signature = [UInt8](repeating: 0, count: 80)
        var count = signature.count
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
          unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else {
          ERR_clear_error()
          throw CloudKitKeyError("libcrypto cannot sign with the key")
        }
        return Array(signature.prefix(count))
      }
    }

    private func withKey<Value>(
      _ body: (OpaquePointer) throws(CloudKitKeyError) -> Value
    ) throws(CloudKitKeyError) -> Value {
      let key = unsafe pem.withUnsafeBytes { bytes in
        let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
        defer { unsafe BIO_free(source) }
        // Without a closure, libcrypto would ask for a passphrase in the terminal.
        return unsafe PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil)
      }
      guard let key = unsafe key else {
        ERR_clear_error()
        throw CloudKitKeyError(
          "the text contains no private key in PEM without a passphrase; expected the file that "
            + "'openssl ecparam -name prime256v1 -genkey -noout' writes")
      }
      defer { unsafe EVP_PKEY_free(key) }
      var name = [CChar](repeating: 0, count: 80)
      guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1,
        unsafe strcmp(name, "prime256v1") == 0
      else {
        ERR_clear_error()
        throw CloudKitKeyError(
          "the key is not on the curve P-256, which CloudKit requires; make one with "
            + "'openssl ecparam -name prime256v1 -genkey -noout'")
      }
      return try unsafe body(key)
    }
  }
#elseif canImport(CryptoKit)
  internal import CryptoKit

  struct ECDSASigner: Sendable {
    private let key: P256.Signing.PrivateKey

    init(pem: String) throws(CloudKitKeyError) {
      do { key = try P256.Signing.PrivateKey(pemRepresentation: pem) } catch {
        throw CloudKitKeyError(
          "the text contains no private key of the curve P-256 in PEM: \(error); expected the file that "
            + "'openssl ecparam -name prime256v1 -genkey -noout' writes")
      }
    }

    static func digest(of message: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: message)) }

    func signature(of message: [UInt8]) throws(CloudKitKeyError) -> [UInt8] {
      do { return Array(try key.signature(for: message).derRepresentation) } catch {
        throw CloudKitKeyError("CryptoKit cannot sign with the key: \(error)")
      }
    }
  }
#else
  /// A stand-in where libcrypto was not installed when the package was built.
  struct ECDSASigner: Sendable {
    private static let error = CloudKitKeyError(
      "server-to-server keys need libcrypto, which was missing when the package was built: install "
        + "libssl-dev, then run 'swift package purge-cache' and build again")

    init(pem: String) throws(CloudKitKeyError) { throw Self.error }

    static func digest(of message: [UInt8]) -> [UInt8] { [] }

    func signature(of message: [UInt8]) throws(CloudKitKeyError) -> [UInt8] { throw Self.error }
  }
#endif
