import CompositeOperations
import DurableOperations
import FlowFiles
import Foundation
import SystemSupport

/// A page around its contents.
struct PageLayout {
  let title: String
  let heading: HTML
  /// The problem of the request; nil if it has none.
  var problem: String?
  /// Whether the page shows the changes of the store.
  var isLive = true
  let main: HTML

  /// Outside of the contents, which the script replaces.
  private var notice: HTML {
    guard let problem else { return "<p id=\"notice\" role=\"status\" tabindex=\"-1\"></p>" }
    return """
      <p id="notice" class="notice failed" role="alert" tabindex="-1">\(problem)</p>
      """
  }

  private var live: HTML {
    isLive
      ? "<span class=\"live lost\" role=\"status\">not live: reload to see changes</span>" : ""
  }

  private func script(_ nonce: String) -> HTML {
    if !isLive { return "" }
    return """
      <script nonce="\(attribute: nonce)" type="module">
      \(PageFiles.script)</script>

      """
  }

  /// - Parameter nonce: The mark of the script and the styles that the browser may use.
  func html(nonce: String) -> HTML {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(title: title)</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml">
    <style nonce="\(attribute: nonce)">
    \(PageFiles.style)</style>
    \(script(nonce))</head>
    <body data-now="\(Date().iso8601)">
    <a class="skip" href="#main">Skip to the contents</a>
    <header>\(heading)\(live)</header>
    \(notice)
    <main id="main" tabindex="-1">
    \(main)
    </main>
    </body>
    </html>

    """
  }
}

/// The files of the page, which are embedded in the program.
enum PageFiles {
  static let style = HTML(stringLiteral: String(decoding: PackageResources.page_css, as: UTF8.self))
  static let script = HTML(stringLiteral: String(decoding: PackageResources.page_js, as: UTF8.self))
  /// A bar of a timeline above another one.
  static let icon = """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3"
    fill="#0b5cad"/><path d="M3 5h7M6 11h7" stroke="#fff" stroke-width="3"/></svg>
    """
}
