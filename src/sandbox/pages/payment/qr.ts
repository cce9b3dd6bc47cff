import { html, raw } from 'hono/html';
import { encode } from 'uqr';

/** A QR code as inline SVG, black on white in every colour scheme: scanners want it so. */
export function qrCode(text: string, label: string) {
  const { size, data } = encode(text, { ecc: 'M', border: 4 });
  const path = data.map(runs).join('');
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges" data-testid="qr"><path fill="#fff" d="M0 0h${size}v${size}H0z" /><path stroke="#000" d="${raw(path)}" /></svg>`;
}

/** The dark stretches of one row, as one line through its middle. */
function runs(row: readonly boolean[], y: number): string {
  let path = '';
  let drawn = 0;
  for (let x = 0; x < row.length; x++) {
    const from = x;
    while (row[x]) x++;
    if (x === from) continue;
    path += path === '' ? `M${from} ${y}.5` : `m${from - drawn} 0`;
    path += `h${x - from}`;
    drawn = x;
  }
  return path;
}
