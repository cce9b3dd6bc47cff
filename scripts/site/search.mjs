// The search puts guides and the main names of the reference first, and shows a line of context below each result.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReflectionKind } from 'typedoc';
import { firstNames } from './pages.mjs';

const main = new Set([...Object.keys(firstNames), ...Object.values(firstNames).flat()]);

/** Guides before the main names, those before others, and members, examples and pages of the project last. */
export function boostOf(reflection, known) {
  if (reflection.isDocument()) {
    const { category } = known.get(reflection.project.files.getReflectionPath(reflection)) ?? {};
    return category === 'Examples' || category === 'Project' ? 0.02 : 20;
  }
  if (!reflection.parent?.isProject() && !reflection.parent?.kindOf(ReflectionKind.Module)) return 0.05;
  return main.has(reflection.name) ? 4 : 1;
}

/** Writes `assets/contexts.js`: the sentences of each page, of which site.js shows the one that has the words. */
export function writeContexts({ project, outputDirectory }, router) {
  const contexts = {};
  for (const target of router.getLinkTargets()) {
    if (!target.isDocument?.() && !target.isDeclaration?.()) continue;
    const text = target.isDocument() ? proseOf(target.content) : summaryOf(target);
    if (text.length > 0) contexts[router.getFullUrl(target)] = text;
  }
  const json = JSON.stringify(contexts).replaceAll('<', '\\u003c');
  writeFileSync(join(outputDirectory, 'assets/contexts.js'), `window.searchContexts = ${json};\n`);
  return Promise.resolve(project);
}

function proseOf(content) {
  const text = content.map((part) => part.text).join('');
  return text
    .replaceAll(/^( *)```.*?^\1```/gms, '')
    .replaceAll(/^# .*$/gm, '')
    .replaceAll(/^#+ (.+)\n+/gm, '$1: ')
    .replaceAll(/^\|[-| ]+\|$/gm, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/\n{2,}|\n(?=[|>-])/)
    .map((paragraph) =>
      paragraph
        .replaceAll(/[`*|>]|\[!\w+\]/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .filter((paragraph) => paragraph.length > 0);
}

function summaryOf(declaration) {
  const comment = declaration.comment ?? declaration.signatures?.[0]?.comment;
  const text = comment?.summary.map((part) => part.text).join('') ?? '';
  const first = text.replaceAll('`', '').replaceAll(/\s+/g, ' ').trim();
  return first === '' ? [] : [first];
}
