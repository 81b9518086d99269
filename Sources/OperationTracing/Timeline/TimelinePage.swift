/// The web page that shows a trace. Its scripts, style sheet and markup are the files in `Page`.
enum TimelinePage {
  /// - Parameters:
  ///   - title: The title, which may be any text.
  ///   - data: JSON that is safe in a script.
  static func text(title: String, data: String) -> String {
    let script = [
      PackageResources.data_js, PackageResources.drawing_js, PackageResources.axis_js,
      PackageResources.panels_js, PackageResources.controls_js, PackageResources.input_js,
    ].map(text).joined(separator: "\n")
    // Nothing can be loaded, whatever a name or an error contains.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="\(policy)">
      <title>\(title.escapedForMarkup)</title>
      <style>
      \(text(PackageResources.style_css))
      </style>
      </head>
      <body>
      \(text(PackageResources.body_html))
      <script type="application/json" id="trace">
      \(data)</script>
      <script>
      (() => {
      "use strict";
      \(script)
      })();
      </script>
      </body>
      </html>

      """
  }
  /// The text of a file, without its last line break.
  private static func text(_ file: [UInt8]) -> String {
    String(decoding: file.dropLast(), as: UTF8.self)
  }
}
