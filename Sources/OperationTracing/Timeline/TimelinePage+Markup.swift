extension TimelinePage {
  /// The markup of the page before the scripts fill it.
  static let markup = #"""
    <header>
      <div class="heading">
        <h1 id="title"></h1>
        <p id="subtitle"></p>
      </div>
      <div class="tools" role="toolbar" aria-label="Timeline">
        <span class="group">
          <button id="zoom-out" title="Zoom out (-)" aria-label="Zoom out">−</button>
          <button id="zoom-in" title="Zoom in (+)" aria-label="Zoom in">+</button>
          <button id="everything" title="Show everything (0)">All</button>
        </span>
        <span class="group">
          <button id="lower" title="Decrease row height ([)" aria-label="Decrease row height">Rows −</button>
          <button id="higher" title="Increase row height (])" aria-label="Increase row height">Rows +</button>
        </span>
        <button id="critical" aria-pressed="false" title="Show the critical path (c)">Critical path</button>
        <span class="group search" role="search">
          <input id="search" type="search" placeholder="Find by name ( / )" aria-label="Find runs by name"
            autocomplete="off" spellcheck="false">
          <output id="found" for="search"></output>
          <button id="previous" title="Previous (Shift+Enter)" aria-label="Previous run found">↑</button>
          <button id="next" title="Next (Enter)" aria-label="Next run found">↓</button>
        </span>
        <button id="theme" title="Switch between light and dark" aria-label="Switch between light and dark">◐</button>
      </div>
    </header>
    <ul id="legend" aria-label="Legend"></ul>
    <main>
      <div id="stage">
        <canvas id="axis" role="img" aria-label="Time axis and number of concurrent leaf runs"></canvas>
        <div id="scroller" tabindex="-1">
          <div id="spacer">
            <canvas id="runs" tabindex="0" role="application" aria-label="Timeline of runs"
              aria-describedby="keys"></canvas>
          </div>
        </div>
        <p id="empty" hidden>Nothing ran while this trace was recorded.</p>
        <div id="tip" hidden></div>
      </div>
      <aside>
        <section aria-labelledby="details-title">
          <h2 id="details-title">Run</h2>
          <div id="details"></div>
        </section>
        <section aria-labelledby="summary-title">
          <h2 id="summary-title">Summary</h2>
          <div id="summary"></div>
        </section>
        <section aria-labelledby="keys-title">
          <h2 id="keys-title">Keys and mouse</h2>
          <p id="keys">The wheel or <kbd>+</kbd> <kbd>−</kbd> zooms, <kbd>0</kbd> shows everything. Dragging, or
            <kbd>Shift</kbd> with arrows, moves the view; <kbd>Shift</kbd> with the wheel scrolls. Dragging on
            the time axis zooms to that range. In the timeline, arrows move between runs, <kbd>Home</kbd> and
            <kbd>End</kbd> along a row, <kbd>Enter</kbd> pins the details, <kbd>z</kbd> zooms to the run,
            <kbd>Esc</kbd> unpins it. <kbd>[</kbd> <kbd>]</kbd> row height, <kbd>c</kbd> critical path,
            <kbd>/</kbd> find.</p>
        </section>
      </aside>
    </main>
    <p id="live" class="unseen" aria-live="polite"></p>
    <noscript><p>This page needs JavaScript to draw the timeline, and JavaScript is disabled.</p></noscript>
    """#
}
