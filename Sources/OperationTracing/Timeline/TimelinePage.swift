/// The web page that shows a trace.
enum TimelinePage {
  /// - Parameters:
  ///   - title: The title, which may be any text.
  ///   - data: JSON that is safe in a script.
  static func text(title: String, data: String) -> String {
    let script = [
      dataScript, drawingScript, axisScript, panelScript, controlScript, inputScript,
    ].joined(separator: "\n")
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
      \(style)
      </style>
      </head>
      <body>
      \(markup)
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
}
