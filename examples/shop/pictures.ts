const drawing = (from: string, to: string, shapes: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300"><defs><linearGradient id="g" x2="1" y2="1">` +
  `<stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient></defs>` +
  `<rect width="400" height="300" fill="url(#g)"/><ellipse cx="200" cy="246" rx="120" ry="12" fill="#000" opacity=".12"/>${shapes}</svg>`;

const drawings = {
  'mug.svg': drawing(
    '#f3dcc6',
    '#cf8a66',
    `<path d="M252 122h20a32 32 0 0 1 0 78h-26" fill="none" stroke="#fdf8f3" stroke-width="17"/>
<path d="M128 92h136v98a56 56 0 0 1-56 56h-24a56 56 0 0 1-56-56z" fill="#fdf8f3"/>
<path d="M128 150h136v40a56 56 0 0 1-56 56h-24a56 56 0 0 1-56-56z" fill="#3f5f6b"/>
<ellipse cx="196" cy="92" rx="68" ry="13" fill="#6b4630"/><ellipse cx="196" cy="92" rx="68" ry="13" fill="none" stroke="#fff" stroke-width="5"/>
<path d="M176 62c-12-14 10-20 0-36m38 36c-12-14 10-20 0-36" fill="none" stroke="#fff" stroke-width="6" stroke-linecap="round" opacity=".7"/>`,
  ),
  'book.svg': drawing(
    '#d5e0d6',
    '#7f9f8d',
    `<g transform="rotate(-6 200 150)"><path d="M118 50h150a14 14 0 0 1 14 14v176H132a14 14 0 0 1-14-14z" fill="#24443a"/>
<path d="M132 228h150v14H132a7 7 0 0 1 0-14z" fill="#f6efe2"/><path d="M132 50v178" stroke="#1b342c" stroke-width="5"/>
<circle cx="208" cy="124" r="32" fill="#e6b566"/><path d="M156 176c24-34 38-34 54-8 12-18 26-16 46 8z" fill="#f6efe2"/>
<path d="M176 200h64" stroke="#f6efe2" stroke-width="5" stroke-linecap="round"/></g>`,
  ),
  'candle.svg': drawing(
    '#dcd9ee',
    '#8681b4',
    `<path d="M140 116h120v112a18 18 0 0 1-18 18h-84a18 18 0 0 1-18-18z" fill="#fff" opacity=".5"/>
<path d="M150 140h100v86a10 10 0 0 1-10 10h-80a10 10 0 0 1-10-10z" fill="#f7efdf"/><path d="M200 140v-24" stroke="#4b4560" stroke-width="5"/>
<path d="M200 56c26 28 24 60 0 62-24-2-26-34 0-62z" fill="#f2a541"/><path d="M200 84c12 14 11 30 0 32-11-2-12-18 0-32z" fill="#fff3c9"/>
<rect x="162" y="168" width="76" height="44" rx="5" fill="#4b4f86"/><path d="m200 174 12 16h-7l9 14h-28l9-14h-7z" fill="#f7efdf"/>`,
  ),
};

/** Drawings of the goods. A map, because a name in an address can be `__proto__`. */
export const pictures = new Map(Object.entries(drawings));
