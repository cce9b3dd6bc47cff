// Checks the documentation: every page is listed, no link is dead, and the built site works in a browser on three widths.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { deadLinks, markdownFiles } from '../markdown-links.mjs';
import { guides, pages } from './pages.mjs';

const site = 'docs/api';
// typedoc's own: its side headings are h3 wherever they stand, and its menu has links in the buttons that open a section.
const axeRun = `axe.run({ exclude: ['.site-menu'] }, { rules: { 'heading-order': { enabled: false } } })`;
const failures = [];
const fail = (message) => failures.push(message);
const filesIn = (folder, extension) =>
  readdirSync(folder, { recursive: true })
    .filter((path) => path.endsWith(extension))
    .map((path) => join(folder, path));

checkPages();
checkMarkdownLinks();
const links = checkSiteLinks();
checkChain();
const views = await checkInBrowser();
for (const message of failures) console.error(message);
console.log(`docs: ${links} links followed, ${views} views looked at, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** The site, llms.txt and the folder have the same guides; a guide is short, and its code fits. */
function checkPages() {
  const listed = Object.values(pages).flat();
  const llms = readFileSync('llms.txt', 'utf8');
  for (const name of readdirSync('docs').filter((each) => each.endsWith('.md'))) {
    const file = `docs/${name}`;
    const lines = readFileSync(file, 'utf8').split('\n');
    if (!listed.includes(file)) fail(`${file} is in no group of scripts/site/pages.mjs`);
    if (!llms.includes(`(${file})`)) fail(`llms.txt does not name ${file}`);
    if (lines.length > 170) fail(`${file} has ${lines.length} lines: split it`);
  }
  const texts = ['README.md', ...listed].map((file) => readFileSync(file, 'utf8')).join();
  for (const name of readdirSync('docs/images'))
    if (!texts.includes(`images/${name}`)) fail(`no page shows docs/images/${name}`);
  for (const [, file] of llms.matchAll(/\]\(([^)]+)\)/g))
    if (!existsSync(file)) fail(`llms.txt names ${file}`);
}

function checkMarkdownLinks() {
  const files = [
    ...['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'examples/README.md'],
    ...markdownFiles('.', 'docs').filter((file) => !file.startsWith(site)),
  ];
  deadLinks('.', files).forEach(fail);
}

/** Every link inside the built site leads to a file and to an element of that id. */
function checkSiteLinks() {
  const pagesOfSite = new Map(
    filesIn(site, '.html').map((file) => {
      const html = readFileSync(file, 'utf8');
      return [file, { html, ids: new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)) }];
    }),
  );
  let followed = 0;
  for (const [file, { html }] of pagesOfSite) {
    for (const [, raw] of html.matchAll(/\s(?:href|src)="([^"]+)"/g)) {
      const address = raw.replaceAll('&amp;', '&');
      if (/^(\w+:|\/\/)/.test(address)) continue;
      followed += 1;
      const [path, anchor] = address.split('#').map(decodeURIComponent);
      const target = path === '' ? file : normalize(join(dirname(file), path.replace(/\?.*/, '')));
      if (!existsSync(target) || statSync(target).isDirectory())
        fail(`${file} links to ${address}: no such page`);
      else if (anchor && target.endsWith('.html') && !pagesOfSite.get(target)?.ids.has(anchor))
        fail(`${file} links to ${address}: no such place in the page`);
    }
  }
  return followed;
}

/** "Next" leads from the first guide through every one, in the order of the menu, and "Previous" leads back. */
function checkChain() {
  const titles = guides.map((file) => /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]);
  const walk = (label, first) => {
    const found = [first];
    for (let page = first; page && found.length <= titles.length; ) {
      const html = readFileSync(join(site, 'documents', `${page.replaceAll(/[^\w.]/g, '_')}.html`), 'utf8');
      [, page] = new RegExp(`>${label}: ([^<]+)</a>`).exec(html) ?? [];
      page = page?.replaceAll(/&#0?39;|&#x27;/g, "'");
      if (page) found.push(page);
    }
    return found.join(' → ');
  };
  for (const [label, order] of [
    ['Next', titles],
    ['Previous', titles.toReversed()],
  ])
    if (walk(label, order[0]) !== order.join(' → ')) fail(`"${label}" leads ${walk(label, order[0])}`);
}

/** Nothing wider than the screen but what scrolls by itself, no finding of axe, guides in the search. */
async function checkInBrowser() {
  const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--allow-file-access-from-files'],
  });
  let views = 0;
  try {
    const paths = [
      'index.html',
      'documents/Receive_webhooks.html',
      'documents/Sandbox_reference.html',
      'documents/Fulfil_exactly_once.html',
      'documents/quickstart.ts.html',
      'modules.html',
      ...filesIn(join(site, 'modules'), '.html').map((file) => relative(site, file)),
      'classes/merchant-payments.PaymentsClient.html',
      'interfaces/merchant-payments.ProductsResource.html',
      'functions/merchant-payments_inbox.openInbox.html',
    ];
    const look = async ([width, colorScheme]) => {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
      for (const path of paths) {
        views += 1;
        const view = `${path} at ${width} px, ${colorScheme}`;
        await page.goto(pathToFileURL(join(site, path)).href, { waitUntil: 'load' });
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        if (overflow > 0) fail(`${view}: ${overflow} px wider than the screen`);
        if (width === 768) continue; // for axe, between the others
        await page.evaluate(axe);
        const { violations } = await page.evaluate(axeRun);
        for (const { id, nodes } of violations) fail(`${view}: ${id}: ${nodes[0].html.slice(0, 200)}`);
      }
      await page.close();
    };
    const looks = [
      [360, 'light'],
      [768, 'light'],
      [1280, 'dark'],
    ];
    await Promise.all(looks.map(look));
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    for (const [words, expected] of [
      ['exactly once', 'Fulfil exactly once'],
      ['which customer paid', 'Which order was it?'],
      ['prefetch', 'Products and pagination'],
      ['PaymentsClient', 'merchant-payments.PaymentsClient'],
      ['openInbox', 'merchant-payments/inbox.openInbox'],
    ]) {
      await page.goto(pathToFileURL(join(site, 'index.html')).href);
      await page.keyboard.press('/');
      await page.fill('#tsd-search-input', words);
      const found = page.locator('#tsd-search-results a').first();
      await found.locator('small').waitFor({ timeout: 5_000 });
      const name = (await found.locator('.text').innerText()).split('\n')[0].replaceAll(/\s/g, '');
      if (name !== expected.replaceAll(' ', ''))
        fail(`the search for "${words}" begins with ${name}, not ${expected}`);
    }
    assert.ok(views > 0);
  } finally {
    await browser.close();
  }
  return views;
}
