// What the site has beyond typedoc: error classes linked in `@throws`, pages grouped and in order, examples as
// highlighted pages, tables and code that scroll on a phone, and "Edit this page".
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { Application, Comment, CommentTag, Converter, PageEvent, ReflectionKind } from 'typedoc';
import { examples, pages } from './pages.mjs';

const generated = '.site';
const titles = { 'SECURITY.md': 'Report a vulnerability' };
const { repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const address = repository?.url?.replace(/^git\+/, '').replace(/\.git$/, '');

/** Category and source of each page, by its absolute path. */
const known = new Map();
const folders = new Set();

export function load(app) {
  app.on(Application.EVENT_BOOTSTRAP_END, () => {
    rmSync(generated, { recursive: true, force: true });
    for (const [category, files] of Object.entries(pages)) {
      for (const file of files) known.set(resolve(file), { category, source: file, file });
    }
    for (const source of examples()) {
      const file = `${generated}/${source.replace(/[[\]]/g, '')}.md`; // brackets would be a pattern
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, exampleAsPage(source));
      known.set(resolve(file), { category: 'Examples', source, file });
    }
    app.options.setValue(
      'projectDocuments',
      [...known.values()].map(({ file }) => file),
    );
  });

  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    const path = document.project.files.getReflectionPath(document);
    const page = known.get(path);
    if (!page) throw new Error(`${path} is in no group of scripts/site/pages.mjs`);
    const heading = /^# (.+)$/m.exec(document.content.map((part) => part.text).join(''));
    document.name =
      titles[page.source] ??
      (page.category === 'Examples' ? page.source.replace('examples/', '') : heading[1]);
    if (page.source !== page.file) {
      const { files } = document.project;
      files.registerReflectionPath(resolve(page.source), document);
      // A link to a folder leads to its first file.
      for (let folder = dirname(page.source); folder !== 'examples'; folder = dirname(folder)) {
        if (!folders.has(folder)) files.registerReflectionPath(resolve(folder), document);
        folders.add(folder);
      }
    }
    document.comment ??= new Comment();
    document.comment.blockTags.push(new CommentTag('@category', [{ kind: 'text', text: page.category }]));
  });

  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const reflection of Object.values(project.reflections)) {
      for (const tag of reflection.comment?.blockTags ?? []) {
        const type = tag.tag === '@throws' && /^\{?(\w+)\}?$/.exec(tag.typeAnnotation ?? '')?.[1];
        if (!type) continue;
        const target = project
          .getReflectionsByKind(ReflectionKind.Class)
          .find((declared) => declared.name === type);
        if (!target) app.logger.warn(`@throws names ${type}, which is no documented class`);
        const link = target
          ? { kind: 'inline-tag', tag: '@link', text: type, target }
          : { kind: 'code', text: `\`${type}\`` };
        delete tag.typeAnnotation;
        tag.content.unshift(link, { kind: 'text', text: ': ' });
      }
    }
  });

  app.renderer.on(PageEvent.END, (page) => {
    page.contents = page.contents
      ?.replaceAll('<table', '<div class="scrolls"><table')
      .replaceAll('</table>', '</table></div>')
      .replaceAll(/<th([^>]*)><\/th>/g, '<td$1></td>')
      .replace('<div class="col-content"', '<div class="col-content" role="main"')
      .replace('<div class="page-menu"', '<div class="page-menu" role="complementary" aria-label="This page"')
      // A link inside a button that opens a section can be reached by neither.
      .replaceAll(/<summary.*?<\/summary>/gs, (summary) =>
        summary.replaceAll(/<a [^>]*class="tsd-anchor-icon".*?<\/a>/gs, ''),
      );
  });

  if (address === undefined) return;
  app.renderer.hooks.on('content.end', ({ page }) => {
    const path = page.model.isDocument?.() && page.project.files.getReflectionPath(page.model);
    const source = path && known.get(path)?.source;
    return {
      tag: 'p',
      props: source ? { class: 'edit' } : { hidden: true },
      children: source ? [edit(source)] : [],
    };
  });
}

function edit(source) {
  return { tag: 'a', props: { href: `${address}/edit/main/${source}` }, children: ['Edit this page'] };
}

function exampleAsPage(source) {
  const text = readFileSync(source, 'utf8');
  const language = basename(source).split('.').at(-1);
  return `# ${source.replace('examples/', '')}\n\n\`\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\`\n`;
}
