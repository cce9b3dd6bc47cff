/** Colours, type and controls of every page. It uses system fonts, one accent colour and no animation. */
export const theme = `
  :root {
    color-scheme: light dark;
    --ground: light-dark(#f4f5f8, #0e1018); --surface: light-dark(#fff, #151824); --raised: light-dark(#fff, #1c2030);
    --line: light-dark(#dfe2ea, #2c3145); --strong-line: light-dark(#858ca0, #727a94);
    --ink: light-dark(#161a2b, #eef0f6); --soft: light-dark(#565d73, #a2a9bd);
    --accent: light-dark(#4a3fd4, #a9a2ff); --accent-wash: light-dark(#efeefc, #24224a);
    --accent-deep: light-dark(#3a30b3, #c1bcff); --on-accent: light-dark(#fff, #14102e);
    --good: light-dark(#0b7247, #5fd6a0); --good-wash: light-dark(#e3f5ec, #11301f);
    --bad: light-dark(#b3202e, #ff9aa2); --bad-wash: light-dark(#fdecee, #3a161c);
    --warn: light-dark(#7a4a00, #ffd27a); --warn-wash: light-dark(#fff2d6, #33270d);
    --near: light-dark(rgb(22 26 43 / .06), rgb(0 0 0 / .4)); --far: light-dark(rgb(22 26 43 / .12), rgb(0 0 0 / .6));
    --shadow: 0 1px 2px var(--near), 0 8px 24px -8px var(--far);
    --sans: Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
    --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  }
  *, *::before, *::after { box-sizing: border-box }
  body {
    margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--ground); color: var(--ink);
    font: 1rem/1.5 var(--sans); -webkit-font-smoothing: antialiased; -webkit-text-size-adjust: 100%; overflow-wrap: anywhere;
  }
  h1, h2, h3, p, dl, dd, ol, pre, fieldset, legend { margin: 0; padding: 0; border: 0; min-width: 0 }
  h2 { font-size: 1.125rem }
  h1, h2, h3 { line-height: 1.2; letter-spacing: -.015em; font-weight: 650; text-wrap: balance }
  :where(a) { color: var(--accent); text-underline-offset: .15em }
  :where(a:hover) { color: var(--accent-deep) }
  code, pre { font-family: var(--mono); font-size: .875em }
  :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .375rem }
  .banner {
    padding: .5rem 1rem; background: var(--warn-wash); color: var(--warn);
    font-size: .875rem; font-weight: 550; text-align: center;
  }
  .button {
    display: inline-flex; align-items: center; justify-content: center; gap: .5rem; min-height: 2.75rem; padding: .5rem 1rem;
    border: 1px solid var(--line); border-radius: .625rem; background: var(--raised); color: var(--ink);
    font: inherit; font-weight: 550; text-decoration: none; cursor: pointer;
  }
  .button:hover { border-color: var(--strong-line) }
  .button.primary { border-color: transparent; background: var(--accent); color: var(--on-accent); font-weight: 650 }
  .button.primary:hover { background: var(--accent-deep) }
  .back:hover, .plain:hover, a.strong:hover { text-decoration: underline }
  .badge.good, .notice.good { background: var(--good-wash); color: var(--good) }
  .badge.bad, .notice.bad { background: var(--bad-wash); color: var(--bad) }
  .panel, .product, .scroll { border: 1px solid var(--line); border-radius: 1rem; background: var(--raised) }
  .notice { display: flex; gap: .75rem; margin-bottom: 1.75rem; padding: .875rem 1.125rem; border-radius: .875rem }
  .notice h2 { font-size: 1rem; margin-bottom: .125rem }
  .facts { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .375rem 1.25rem; font-size: .875rem }
  .expiry, .figures dd, .number, time, .time { font-variant-numeric: tabular-nums }
  .soft, .facts dt { color: var(--soft) }
  .small { font-size: .875rem }
  .spoken {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
  }
  .icon { flex: none }
  :root:not(.copies) [data-copy] { display: none }
`;
