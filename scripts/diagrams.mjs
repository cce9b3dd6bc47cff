// Draws the sequence diagrams and decision trees of the docs into docs/images/*.svg, which GitHub, npm and the site show as they are.
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
      'shop: verify, store',
      'shop -> service: 200',
      'shop: fulfil',
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
    title: 'Two customers, two amounts: each payment has one order',
    columns: { anna: 'Anna', ben: 'Ben', shop: 'Your server', service: 'The service' },
    lines: [
      'anna > shop: buys a candle',
      'shop: order A for 24.00',
      'ben > shop: buys a candle',
      'shop: order B for 23.99',
      'ben > shop: opens successUrl, unpaid',
      'shop: proves nothing',
      'anna > service: pays 24.00',
      'service > shop: order.paid, 24.00 USD',
      'shop: only A asks for 24.00: A is paid',
      'anna, service | Several orders ask for it? Hold the payment for a person. Never guess.',
    ],
  },
};

/** Questions from top to bottom: `question > answer`, and what remains at the end. */
const trees = {
  'how-to-receive': {
    title: 'Which way to receive webhooks',
    lines: [
      'May a payment be missed when the process stops? > on: a first integration, tests',
      'Do you run a queue already, such as pg-boss or BullMQ? > accept: hand the delivery to it',
      'Does your shop run on one server with a disk? > openInbox({ file }): SQLite, Node 22.13 or later',
      'Several servers, containers, serverless > openInbox({ pool }): your PostgreSQL',
    ],
  },
  'was-it-done': {
    title: 'After a failed write: error.outcome',
    lines: [
      'not_sent? It cannot have reached the service. > Fix the cause, then retry',
      'rejected? Nothing was done. > Fix the request, the key or the product',
      'done? It was done, but the response could not be used. > Read it back. The error may have its id',
      'unknown: it may have been done. > Look. If it is not there, send it again',
    ],
  },
};

const check = process.argv.includes('--check');
const drawings = [
  ...Object.entries(diagrams).map(([name, diagram]) => [name, draw(diagram)]),
  ...Object.entries(trees).map(([name, tree]) => [name, drawTree(tree)]),
];
for (const [name, svg] of drawings) {
  const file = new URL(`../docs/images/${name}.svg`, import.meta.url);
  if (!check) writeFileSync(file, svg);
  else if (readFileSync(file, 'utf8') !== svg) {
    console.error(
      `docs/images/${name}.svg is not what scripts/diagrams.mjs draws. Run: node scripts/diagrams.mjs`,
    );
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
  return svgOf(title, width, height, [...heads, ...body]);
}

function drawTree({ title, lines }) {
  const step = 92;
  const box = (kind, x, y, words) => {
    const rows = wrap(words, 34);
    return [
      `<rect class="${kind}" x="${x}" y="${y}" width="280" height="62" rx="8"/>`,
      ...rows.map((row, at) => text(x + 140, y + 36 + (at - (rows.length - 1) / 2) * 19, row, 'plain')),
    ];
  };
  const body = lines.flatMap((line, at) => {
    const [question, answer] = line.split(' > ');
    const y = 24 + at * step;
    const down = `<path class="call" d="M164 ${y + 62}V${y + step - 3}" marker-end="url(#tip)"/>`;
    return [
      ...box('note', 24, y, question),
      `<path class="call" d="M304 ${y + 31}H413" marker-end="url(#tip)"/>`,
      ...box('head', 416, y, answer),
      ...(question.includes('?')
        ? [down, text(184, y + 81, 'no', 'quiet'), text(358, y + 24, 'yes', 'quiet')]
        : []),
    ];
  });
  return svgOf(title, 720, 24 + lines.length * step - 6, body);
}

function wrap(words, most) {
  const rows = [''];
  for (const word of words.split(' ')) {
    if (`${rows.at(-1)} ${word}`.length > most) rows.push(word);
    else rows.push(`${rows.pop()} ${word}`.trim());
  }
  return rows;
}

function svgOf(title, width, height, body) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">${title}</title>
<style>
svg{--back:#fff;--ink:#16162b;--soft:#5b5b76;--line:#b9b9cd;--fill:#f1f0fc;--accent:#4a3fd3}
@media(prefers-color-scheme:dark){svg{--back:#181825;--ink:#ececf6;--soft:#b3b3c9;--line:#55556e;--fill:#26263c;--accent:#a59dff}}
text{font:14px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--ink);text-anchor:middle;paint-order:stroke;stroke:var(--back);stroke-width:5px;stroke-linejoin:round}
.strong{font-weight:600;stroke:none}.plain{stroke:none}.quiet{fill:var(--soft);stroke:none}
.back{fill:var(--back)}.head,.step{fill:var(--fill);stroke:var(--accent)}.note{fill:var(--back);stroke:var(--line);stroke-dasharray:4 3}
.life{stroke:var(--line);fill:none}.call,.reply{stroke:var(--accent);stroke-width:1.6;fill:none}.reply{stroke-dasharray:6 4}
#tip path{fill:var(--accent)}
</style>
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z"/></marker></defs>
<rect class="back" width="${width}" height="${height}" rx="12"/>
${body.join('\n')}
</svg>
`;
}

function text(x, y, content, kind) {
  const safe = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}"${kind ? ` class="${kind}"` : ''}>${safe}</text>`;
}
