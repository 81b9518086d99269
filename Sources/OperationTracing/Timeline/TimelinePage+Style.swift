extension TimelinePage {
  /// The style sheet of the page, light and dark. The colors of the outcomes are from Okabe and
  /// Ito, *Color Universal Design*, 2008, who chose them for people with color vision deficiencies;
  /// they are a little darker on white. Each outcome also has a mark besides its color.
  static let style = #"""
    :root {
      color-scheme: light dark;
      --page: light-dark(#ffffff, #11161d);
      --panel: light-dark(#f5f7f9, #181f28);
      --band: light-dark(#f7f9fb, #151b23);
      --line: light-dark(#d5dbe2, #2c3643);
      --ink: light-dark(#1a2129, #e4eaf1);
      --faint: light-dark(#55606d, #9aa7b5);
      --accent: light-dark(#00649c, #7cc4f0);
      --on-accent: light-dark(#ffffff, #0c1218);
      --label: light-dark(#10151c, #10151c);
      --result: light-dark(#3a9bd3, #56b4e9);
      --error: light-dark(#d9620f, #e8702a);
      --cancelled: light-dark(#c873a3, #cc79a7);
      --unfinished: light-dark(#e3b505, #f0e442);
      --area: light-dark(#7fb8a4, #2f7d66);
      --path: light-dark(#10151c, #ffffff);
      --focus: light-dark(#6a1b9a, #ffd54a);
    }
    :root[data-theme="light"] { color-scheme: light; }
    :root[data-theme="dark"] { color-scheme: dark; }
    * { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html, body { height: 100%; margin: 0; }
    body {
      display: flex; flex-direction: column; background: var(--page); color: var(--ink);
      font: 13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
    }
    header { display: flex; flex-wrap: wrap; gap: 8px 24px; align-items: center; padding: 12px 16px 8px; }
    .heading { flex: 1 1 260px; min-width: 0; }
    h1 { margin: 0; font-size: 17px; line-height: 1.3; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    #subtitle { margin: 0; color: var(--faint); }
    .tools, .group { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
    .group { gap: 0; flex-wrap: nowrap; }
    button, input {
      font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line);
      height: 30px; padding: 0 10px; border-radius: 6px;
    }
    button { cursor: pointer; min-width: 32px; }
    button:hover { border-color: var(--faint); }
    button[aria-pressed="true"] { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
    .group > * { border-radius: 0; margin-left: -1px; }
    .group > :first-child { border-radius: 6px 0 0 6px; margin-left: 0; }
    .group > :last-child { border-radius: 0 6px 6px 0; }
    .group > :hover { position: relative; }
    input { width: 240px; padding-right: 96px; }
    input::-webkit-search-cancel-button { display: none; }
    .search { position: relative; }
    input::placeholder { color: var(--faint); opacity: 1; }
    #found { position: absolute; right: 74px; line-height: 30px; color: var(--faint); font-variant-numeric: tabular-nums; pointer-events: none; }
    :focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; position: relative; z-index: 1; }
    #legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0; padding: 0 16px 10px; list-style: none; color: var(--faint); }
    #legend li { display: flex; align-items: center; gap: 6px; }
    #legend canvas { width: 26px; height: 14px; flex: none; }
    main { flex: 1; min-height: 0; display: flex; border-top: 1px solid var(--line); }
    #stage { position: relative; flex: 1; min-width: 0; display: flex; flex-direction: column; }
    #axis { height: 84px; width: 100%; flex: none; border-bottom: 1px solid var(--line); cursor: col-resize; touch-action: none; }
    #scroller { flex: 1; min-height: 0; overflow-x: hidden; overflow-y: scroll; outline: none; }
    #spacer { min-height: 100%; }
    #runs { position: sticky; top: 0; display: block; cursor: grab; touch-action: none; }
    #runs:focus-visible { outline-offset: -2px; }
    #runs.dragged { cursor: grabbing; }
    #empty { position: absolute; inset: 40% 0 auto; margin: 0; text-align: center; color: var(--faint); font-size: 15px; }
    #tip {
      position: absolute; z-index: 3; max-width: 420px; max-height: 60%; overflow: hidden; padding: 8px 12px;
      background: var(--page); border: 1px solid var(--faint); border-radius: 8px;
      box-shadow: 0 4px 18px rgb(0 0 0 / 25%); pointer-events: none;
    }
    aside { flex: none; width: 332px; overflow-y: auto; padding: 2px 16px 16px; background: var(--panel); border-left: 1px solid var(--line); }
    aside section + section { border-top: 1px solid var(--line); margin-top: 12px; }
    h2 { margin: 12px 0 6px; font-size: 13px; text-transform: uppercase; letter-spacing: .05em; color: var(--faint); }
    h3 { margin: 12px 0 4px; font-size: 13px; }
    .name { margin: 0 0 4px; font-size: 14px; font-weight: 600; overflow-wrap: anywhere; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4; overflow: hidden; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 0; }
    dt { color: var(--faint); }
    dd { margin: 0; min-width: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
    pre { margin: 6px 0 0; padding: 6px 8px; max-height: 180px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font: 12px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; background: var(--page); border: 1px solid var(--line); border-left: 4px solid var(--error); border-radius: 4px; }
    .log { margin: 4px 0 0; padding: 0; list-style: none; }
    .log li { display: grid; grid-template-columns: 76px 1fr; gap: 8px; overflow-wrap: anywhere; }
    .log span:first-child, .pick span:last-child { color: var(--faint); text-align: right; font-variant-numeric: tabular-nums; }
    .hint { margin: 0; color: var(--faint); }
    #keys { margin: 0; color: var(--faint); }
    kbd { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; padding: 0 4px; border: 1px solid var(--line); border-radius: 4px; background: var(--page); color: var(--ink); }
    .pick { display: grid; grid-template-columns: 1fr auto; gap: 8px; width: calc(100% + 14px); height: auto; padding: 2px 6px; margin: 0 -7px; border-color: transparent; background: none; text-align: left; }
    .pick span:first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .pick:hover { background: var(--page); }
    .unseen { position: absolute; top: 0; left: 0; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
    @media (max-width: 860px) {
      main { flex-direction: column; }
      #stage { min-height: 55vh; }
      aside { width: auto; border-left: 0; border-top: 1px solid var(--line); max-height: 45vh; }
    }
    """#
}
