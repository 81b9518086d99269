import Foundation

#if canImport(CCrypto)
  import CCrypto
#endif

/// Checks of the signatures of server-to-server keys, with libcrypto.
enum Signature {
  /// Whether keys can be checked: libcrypto was there when the package was built.
  static var isSupported: Bool {
    #if canImport(CCrypto)
      true
    #else
      false
    #endif
  }

  /// The message that a client signs.
  static func message(date: String, body: Data, subpath: String) -> String {
    "\(date):\(digest(of: body).base64EncodedString()):\(subpath)"
  }

  /// Whether a signature (ECDSA with SHA-256, DER) of a message was made with the private key of a
  /// public key in PEM format.
  static func isValid(_ signature: Data, of message: String, for pem: String) -> Bool {
    #if canImport(CCrypto)
      // The buffer refers to the text until the key is read.
      let read = unsafe Array(pem.utf8).withUnsafeBytes { text in
        let buffer = unsafe BIO_new_mem_buf(text.baseAddress, Int32(text.count))
        defer { unsafe BIO_free(buffer) }
        return unsafe PEM_read_bio_PUBKEY(buffer, nil, nil, nil)
      }
      guard let key = unsafe read else { return false }
      defer { unsafe EVP_PKEY_free(key) }
      guard let context = unsafe EVP_MD_CTX_new() else { return false }
      defer { unsafe EVP_MD_CTX_free(context) }
      guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else {
        return false
      }
      let (signature, message) = (Array(signature), Array(message.utf8))
      return unsafe EVP_DigestVerify(
        context, signature, signature.count, message, message.count) == 1
    #else
      false
    #endif
  }

  private static func digest(of body: Data) -> Data {
    #if canImport(CCrypto)
      var digest = [UInt8](repeating: 0, count: 32)
      let bytes = Array(body)
      unsafe EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
      return Data(digest)
    #else
      Data()
    #endif
  }
}
