/** Style of the dashboard, for its tables and panels. It has one column below 720 px. */
export const dashboardStyle = `
  body { font-size: .9375rem }
  .wrap { width: 100%; max-width: 70rem; margin: 0 auto; padding-inline: clamp(1rem, 4vw, 2rem) }
  .top { background: var(--surface); border-bottom: 1px solid var(--line) }
  .top .wrap { display: flex; flex-wrap: wrap; align-items: center; column-gap: 2rem }
  .brand { display: inline-flex; align-items: center; gap: .625rem; min-height: 3rem; color: var(--ink); font-weight: 700; font-size: 1.0625rem; letter-spacing: -.02em; text-decoration: none }
  .mark { width: 1.125rem; height: 1.125rem; border-radius: .3rem; background: var(--accent) }
  nav[aria-label=Dashboard] { --side: clamp(.375rem, 1.25vw, .5625rem); display: flex; flex-wrap: wrap; margin-inline: calc(-1 * var(--side)) }
  nav[aria-label=Dashboard] a {
    display: flex; align-items: center; min-height: 3rem; padding: 0 var(--side); border-bottom: 2px solid transparent; font-size: .875rem; color: var(--soft);
    font-weight: 550; text-decoration: none; white-space: nowrap;
  }
  nav[aria-label=Dashboard] a:hover { color: var(--ink) }
  nav[aria-label=Dashboard] a[aria-current] { color: var(--ink); border-color: var(--accent) }
  nav[aria-label=Dashboard] a:focus-visible { outline-offset: -3px }
  main { flex: 1; padding-block: 1.75rem 4rem }
  h1 { font-size: 1.5rem }
  h3 { font-size: .9375rem }
  main > section, main > div { margin-top: 1.75rem }
  .tabs + section, .panel > * + h3 { margin-top: 1.25rem }
  main > :first-child, main > .spoken + div, main > [data-live]:empty + div { margin-top: 0 }
  main > [data-live]:empty { display: none }
  .heading { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1rem; margin-bottom: .875rem }
  .actions, .actions form, .row-actions, .row-actions form, .line { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem }
  .actions { gap: .5rem 1.25rem }
  section > .actions, .panel + .panel, .asks { margin-top: 1rem }
  .button { min-height: 2.5rem; padding: .375rem .875rem }
  .button.small { min-height: 2rem; padding: .125rem .625rem; border-radius: .5rem; font-size: .8125rem }
  .button.danger { border-color: transparent; background: var(--bad); color: var(--surface) }
  .attempts, summary.button { list-style: none }
  summary.button::-webkit-details-marker { display: none }
  .field { min-height: 2.5rem; padding: .375rem .75rem; border: 1px solid var(--strong-line); border-radius: .625rem; background: var(--raised); color: var(--ink); font: inherit }
  .field { flex: 1; min-width: 12rem; font-family: var(--mono); font-size: .875rem }
  label { display: block; margin-bottom: .25rem; font-weight: 550 }
  .panel { padding: clamp(1.25rem, 3vw, 1.5rem) }
  .panel > .small { margin-top: .5rem }
  .beside { display: grid; gap: 1.75rem; align-items: start }
  .beside > * { min-width: 0 }
  .figures { margin-bottom: 1rem }
  .figures > div { display: flex; justify-content: space-between; padding: .4375rem 0; border-bottom: 1px solid var(--line) }
  .figures dd { font-weight: 650 }
  .time { font-size: 1.25rem; font-weight: 650; letter-spacing: -.015em }
  .asks p, .facts { margin: .75rem 0 }
  .notice.calm { background: var(--accent-wash) }
  .empty { padding: 3rem 1.5rem; border: 1px dashed var(--line); border-radius: 1rem; color: var(--soft); text-align: center }
  .intro { max-width: 46rem; margin-bottom: 1rem }
  .scroll { position: relative; overflow-x: auto }
  table { width: 100%; border-collapse: collapse }
  th, td { padding: .75rem 1rem; text-align: start; vertical-align: top }
  th { color: var(--soft); font-size: .8125rem; font-weight: 550; white-space: nowrap }
  tbody tr { border-top: 1px solid var(--line) }
  td code, .number, time { white-space: nowrap }
  .strong { font-weight: 600 }
  a.strong { text-decoration: none }
  .badge, .tag { display: inline-block; padding: .0625rem .5rem; border-radius: 1rem; font-size: .8125rem; font-weight: 600; white-space: nowrap }
  .badge.warn { background: var(--warn-wash); color: var(--warn) }
  .badge.calm { background: var(--ground); color: var(--soft); box-shadow: inset 0 0 0 1px var(--line) }
  .tag { margin: 0 0 .25rem; border-radius: .375rem; background: var(--accent-wash); color: var(--accent-deep); font-family: var(--mono); font-weight: 500; font-size: .75rem }
  .notes { min-width: 14rem }
  .lint { margin-top: .25rem; color: var(--warn); font-size: .875rem }
  .tabs { display: flex; gap: 1.25rem; margin-top: .25rem; border-bottom: 1px solid var(--line) }
  .tabs a { padding: .5rem 0; font-weight: 550 }
  section > h2, .panel > h3 { margin-bottom: .875rem }
  .hint p + p, section > p + p { margin-top: .375rem }
  .attempts > li > * + * { margin-top: .25rem }
  main > .hint, .attempts .hint { margin-block: .625rem .5rem }
  .hint { padding: .625rem .875rem; border-radius: .625rem; background: var(--warn-wash); color: var(--warn) }
  details > summary:not(.button) { padding: .25rem 0; color: var(--soft); font-size: .875rem; cursor: pointer }
  pre { padding: .75rem .875rem; margin-top: .25rem; overflow-x: auto; border-radius: .625rem; background: var(--ground); font-size: .8125rem; line-height: 1.6; white-space: pre-wrap; overflow-wrap: anywhere }
  td pre { max-width: 40rem }
  .secret code { padding: .375rem .75rem; border-radius: .5rem; background: var(--ground) }
  @media (min-width: 960px) {
    .beside { grid-template-columns: minmax(0, 1fr) 19rem }
    .narrow { display: none }
  }
  @media (max-width: 719px) {
    thead { position: absolute; clip-path: inset(50%) }
    tbody tr { display: flex; flex-wrap: wrap; align-items: center; gap: .375rem 1rem; padding: .875rem 1rem }
    tbody tr:first-child { border-top: 0 }
    td { padding: 0 }
    td:empty { display: none }
    td[data-label]::before { content: attr(data-label) " "; color: var(--soft) }
    .main, .notes { flex: 1 1 100%; min-width: 0 }
    td code { white-space: normal }
  }
`;
