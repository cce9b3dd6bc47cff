// Draws the sequence diagrams of the docs into docs/images/*.svg, which GitHub, npm and the site show as they are.
// `--check` draws nothing and fails where a file is not what its description gives.
import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'node:util';

/**
 * A line is `from > to: text` (solid), `from -> to: text` (dashed: a reply), `at: text` (something done there) or
 * `from, to | text` (a note across).
 */
const diagrams = {
  'accept-a-payment': {
    title: 'A payment, from the Buy button to the success page',
    columns: { browser: 'Customer', shop: 'Your server', service: 'The service' },
    lines: [
      'browser > shop: POST /buy',
      'shop > service: checkouts.create()',
      'service -> shop: url',
      'shop -> browser: 303 to url',
      'browser > service: pays on the hosted page',
      'service > shop: webhook: order.paid',
      'shop: verify, then fulfil',
      'service -> browser: back to successUrl',
      'browser, service | The webhook and the redirect may come in either order.',
    ],
  },
  'fulfil-exactly-once': {
    title: 'Stored before the 200, fulfilled in one transaction',
    columns: { service: 'The service', receiver: 'Your receiver', database: 'Your database' },
    lines: [
      'service > receiver: order.paid, signed',
      'receiver: verify',
      'receiver > database: store the delivery',
      'database -> receiver: on disk',
      'receiver -> service: 200',
      'service, database | A crash from here on loses nothing: the delivery is stored.',
      'receiver > database: one transaction: fulfil, mark done',
      'service > receiver: the same delivery again',
      'receiver -> service: 200, already known',
    ],
  },
  'which-order': {
    title: 'Two customers, one price: the token tells who paid',
    columns: { anna: 'Anna', ben: 'Ben', shop: 'Your server', service: 'The service' },
    lines: [
      'anna > shop: buys a candle, order A',
      'ben > shop: buys a candle, order B',
      'anna > service: pays 24.00',
      'service > shop: order.paid, 24.00 USD',
      'shop: A or B? Wait.',
      'service -> anna: back to /thanks/A?token=…',
      'anna > shop: /thanks/A?token=…',
      'shop: token of A: order A is paid',
      'anna, service | Nobody came back? Hold the payment for a person. Never guess.',
    ],
  },
};

const check = process.argv.includes('--check');
for (const [name, diagram] of Object.entries(diagrams)) {
  const file = new URL(`../docs/images/${name}.svg`, import.meta.url);
  const svg = draw(diagram);
  if (!check) writeFileSync(file, svg);
  else if (readFileSync(file, 'utf8') !== svg) {
    console.error(`docs/images/${name}.svg is not what scripts/diagrams.mjs draws. Run: npm run diagrams`);
    process.exitCode = 1;
  }
}

function draw({ title, columns, lines }) {
  const names = Object.keys(columns);
  const width = 720;
  const gap = width / names.length;
  const x = (name) => {
    if (!names.includes(name)) throw new Error(format('no column %j', name));
    return gap * (names.indexOf(name) + 0.5);
  };
  let y = 76;
  const body = lines.map((line) => {
    const note = /^(\w+), (\w+) \| (.+)$/.exec(line);
    const arrow = /^(\w+) (-?)> (\w+): (.+)$/.exec(line);
    const [, at, done] = /^(\w+): (.+)$/.exec(line) ?? [];
    if (note) {
      const [left, right] = [x(note[1]) - 70, x(note[2]) + 70];
      y += 50;
      return (
        `<rect class="note" x="${left}" y="${y - 29}" width="${right - left}" height="34" rx="6"/>` +
        text((left + right) / 2, y - 7, note[3], 'quiet')
      );
    }
    if (arrow) {
      const [from, to] = [x(arrow[1]), x(arrow[3])];
      const end = to - Math.sign(to - from) * 3;
      y += 42;
      return (
        `<path class="${arrow[2] ? 'reply' : 'call'}" d="M${from} ${y}H${end}" marker-end="url(#tip)"/>` +
        text((from + to) / 2, y - 8, arrow[4])
      );
    }
    const half = done.length * 3.8 + 14;
    const middle = Math.min(Math.max(x(at), half + 6), width - half - 6);
    y += 44;
    return (
      `<rect class="step" x="${middle - half}" y="${y - 25}" width="${2 * half}" height="30" rx="15"/>` +
      text(middle, y - 5, done, 'strong')
    );
  });
  const height = y + 30;
  const heads = names.map(
    (name) =>
      `<path class="life" d="M${x(name)} 62V${height - 14}"/>` +
      `<rect class="head" x="${x(name) - 66}" y="22" width="132" height="40" rx="8"/>` +
      text(x(name), 47, columns[name], 'strong'),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">${title}</title>
<style>
svg{--back:#fff;--ink:#16162b;--soft:#5b5b76;--line:#b9b9cd;--fill:#f1f0fc;--accent:#4a3fd3}
@media(prefers-color-scheme:dark){svg{--back:#181825;--ink:#ececf6;--soft:#b3b3c9;--line:#55556e;--fill:#26263c;--accent:#a59dff}}
text{font:14px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--ink);text-anchor:middle;paint-order:stroke;stroke:var(--back);stroke-width:5px;stroke-linejoin:round}
.strong{font-weight:600;stroke:none}.quiet{fill:var(--soft);stroke:none}
.back{fill:var(--back)}.head,.step{fill:var(--fill);stroke:var(--accent)}.note{fill:var(--back);stroke:var(--line);stroke-dasharray:4 3}
.life{stroke:var(--line);fill:none}.call,.reply{stroke:var(--accent);stroke-width:1.6;fill:none}.reply{stroke-dasharray:6 4}
#tip path{fill:var(--accent)}
</style>
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z"/></marker></defs>
<rect class="back" width="${width}" height="${height}" rx="12"/>
${[...heads, ...body].join('\n')}
</svg>
`;
}

function text(x, y, content, kind) {
  const safe = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}"${kind ? ` class="${kind}"` : ''}>${safe}</text>`;
}
