// The additions of the site to typedoc: error classes linked in `@throws`, guides in `@see`, pages grouped and in order, examples as
// highlighted pages, tables and code that scroll on a phone, guides first in the search, previous and next, and
// "Edit this page".
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { Application, Comment, CommentTag, Converter, IndexEvent, PageEvent, ReflectionKind } from 'typedoc';
import { examples, expanded, firstNames, guides, pages } from './pages.mjs';
import { boostOf, writeContexts } from './search.mjs';

const generated = '.site';
/** A priority below those of typedoc's own plugins. */
const afterTypedoc = -10_000;
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
    page.document = document;
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
    for (const declared of project.getReflectionsByKind(ReflectionKind.Interface | ReflectionKind.TypeAlias))
      if (expanded.includes(declared.name)) declared.comment?.modifierTags.add('@expand');
    for (const reflection of Object.values(project.reflections)) {
      for (const tag of reflection.comment?.blockTags ?? []) {
        if (tag.tag === '@see') tag.content = linkToGuide(tag.content, project);
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

  const orderAll = ({ project }) => {
    order(project, Object.keys(firstNames));
    for (const module of project.children ?? []) order(module, firstNames[module.name] ?? []);
  };
  app.converter.on(Converter.EVENT_RESOLVE_END, orderAll, afterTypedoc);

  app.renderer.on(IndexEvent.PREPARE_INDEX, ({ searchResults }) => {
    for (const reflection of searchResults) reflection.relevanceBoost = boostOf(reflection, known);
  });
  app.renderer.postRenderAsyncJobs.push((event) => writeContexts(event, app.renderer.router));

  app.renderer.on(PageEvent.END, (page) => {
    page.contents = page.contents
      ?.replaceAll('<table', '<div class="scrolls"><table')
      .replaceAll('</table>', '</table></div>')
      .replaceAll(/<th([^>]*)><\/th>/g, '<td$1></td>')
      // Of options whose fields stand below, what they are is said for the parameter and for its type.
      .replaceAll(/(<div class="tsd-comment tsd-typography"><p>[^\n]*<\/p>\n<\/div>)\s*\1/g, '$1')
      .replace('<div class="col-content"', '<div class="col-content" role="main"')
      .replace('<div class="page-menu"', '<div class="page-menu" role="complementary" aria-label="This page"')
      // A link inside a button that opens a section can be reached by neither.
      .replaceAll(/<summary.*?<\/summary>/gs, (summary) =>
        summary.replaceAll(/<a [^>]*class="tsd-anchor-icon".*?<\/a>/gs, ''),
      );
  });

  app.renderer.hooks.on('content.end', ({ page, urlTo }) => {
    const path = page.model.isDocument?.() && page.project.files.getReflectionPath(page.model);
    const source = path && known.get(path)?.source;
    const at = guides.indexOf(source);
    const neighbours = [
      ['Previous', guides[at - 1]],
      ['Next', guides[at + 1]],
    ].flatMap(([label, file]) => {
      const target = at >= 0 && file && known.get(resolve(file))?.document;
      return target ? [link(urlTo(target), `${label}: ${target.name}`)] : [];
    });
    const edit = source && address ? [link(`${address}/edit/main/${source}`, 'Edit this page')] : [];
    const children = [...neighbours, ...edit];
    return { tag: 'p', props: children.length > 0 ? { class: 'turn' } : { hidden: true }, children };
  });
}

/** `docs/page.md, "Heading"`, as a `@see` names it for readers of the source, as a link to that heading. */
function linkToGuide(content, project) {
  const [, file, heading] =
    /^(docs\/[\w-]+\.md), "(.+)"$/.exec(content.map((part) => part.text).join('')) ?? [];
  if (!file) return content;
  const { target } = project.files.registerAbsolute(resolve(file));
  const targetAnchor = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
  return [
    { kind: 'text', text: `[${heading}](` },
    { kind: 'relative-link', text: file, target, targetAnchor },
    { kind: 'text', text: ')' },
  ];
}

/** Puts the names that most people look for first, wherever typedoc lists them. */
function order(parent, names) {
  const place = ({ name }) => (names.includes(name) ? names.indexOf(name) : names.length);
  const lists = [parent, ...(parent.groups ?? []), ...(parent.categories ?? [])];
  for (const list of lists)
    for (const children of [list.children, list.childrenIncludingDocuments])
      children?.sort((one, other) => place(one) - place(other));
}

function link(href, text) {
  return { tag: 'a', props: { href }, children: [text] };
}

function exampleAsPage(source) {
  const text = readFileSync(source, 'utf8');
  const language = basename(source).split('.').at(-1);
  return `# ${source.replace('examples/', '')}\n\n\`\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\`\n`;
}
