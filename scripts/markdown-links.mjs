// Relative links of Markdown files lead to files, and to headings, as GitHub names them. For a clone and for what npm installs.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Returns a sentence for each link of `files`, paths below `root`, that leads nowhere. */
export function deadLinks(root, files) {
  return files.flatMap((file) => {
    const text = prose(join(root, file));
    return [...text.matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].flatMap(([, address]) => {
      const [path, anchor] = address.split('#');
      const target = path === '' ? file : normalize(join(dirname(file), path));
      if (!existsSync(join(root, target))) return [`${file} links to ${address}, which does not exist`];
      if (anchor && !headings(join(root, target)).includes(anchor))
        return [`${file} links to ${address}: no such heading`];
      return [];
    });
  });
}

export function markdownFiles(root, folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((path) => join(folder, path).replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.md'));
}

function headings(file) {
  return [...prose(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function prose(file) {
  return readFileSync(file, 'utf8').replaceAll(/^( *)```.*?^\1```/gms, '');
}
