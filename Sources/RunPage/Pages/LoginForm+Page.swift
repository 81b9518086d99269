#if canImport(HTTPServing)
  import HTTPServing

  extension LoginForm {
    /// The page that asks for the token.
    var styledPage: String {
      let layout = PageLayout(
        title: "Token required", heading: "<h1>Runs</h1>", problem: isRefused ? message : nil,
        isLive: false,
        main: """
          <p>This page needs a token. It is the first line of the file that
          <code>coop journal STORE serve --token-file FILE</code> was started with.</p>
          <form class="filter" method="post" action="\(attribute: action)">
          <label for="token">Token<input id="token" name="\(attribute: Self.field)" type="password"
          autocomplete="current-password" required autofocus></label>
          <button>Continue</button>
          </form>
          """)
      return layout.html(nonce: nonce).text
    }
  }
#endif
