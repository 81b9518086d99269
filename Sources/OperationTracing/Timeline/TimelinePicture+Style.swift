extension TimelinePicture {
  /// The style sheet of the image, with the colors of the page.
  static let style = #"""
    text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1a2129; }
    .title { font-size: 16px; font-weight: 600; }
    .page { fill: #ffffff; } .faint { fill: #55606d; } .line { stroke: #d5dbe2; }
    .name { fill: #10151c; pointer-events: none; white-space: pre; }
    .r, .fr { fill: #3a9bd3; } .e, .fe { fill: #d9620f; } .c, .fc { fill: #c873a3; } .u, .fu { fill: #e3b505; }
    .wr { fill: url(#wr); stroke: #3a9bd3; } .we { fill: url(#we); } .wc { fill: url(#wc); } .wu { fill: url(#wu); }
    .oe { fill: none; stroke: #1a2129; stroke-width: 1.5; }
    .oc { fill: url(#stripes); }
    .ou { fill: none; stroke: #55606d; stroke-dasharray: 3 2; }
    .paper { fill: #eef6fb; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e4eaf1; } .page { fill: #11161d; } .faint { fill: #9aa7b5; } .line { stroke: #2c3643; }
      .name { fill: #10151c; }
      .r, .fr { fill: #56b4e9; } .e, .fe { fill: #e8702a; } .c, .fc { fill: #cc79a7; } .u, .fu { fill: #f0e442; }
      .wr { stroke: #56b4e9; } .oe { stroke: #ffffff; } .paper { fill: #c5d5e0; }
    }
    """#

  /// Hatching for waiting times, in the color of each outcome, on a background that keeps names
  /// legible.
  static let patterns =
    ["r", "e", "c", "u"].map { kind in
      """
      <pattern id="w\(kind)" width="6" height="6" patternUnits="userSpaceOnUse" \
      patternTransform="rotate(45)"><rect class="paper" width="6" height="6"/>\
      <rect class="f\(kind)" width="2" height="6" opacity="0.7"/></pattern>
      """
    }.joined() + """
      <pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse">\
      <rect width="2" height="6" fill="#ffffff" opacity="0.4"/></pattern>
      """
}
