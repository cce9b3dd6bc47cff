import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { expect, test } from 'vitest';
import { filesIn } from '../helpers/files.js';

/** The imports that each room of src/ may have besides itself; `type` means types alone. docs/decisions/rooms.md has the reasons. */
const rooms = new Map(
  Object.entries({
    'schemas/': 'zod, input/',
    'input/': 'zod, errors.ts',
    'errors.ts': '',
    'api-promise.ts': '',
    'version.ts': '',
    'pagination.ts': 'zod, api-promise.ts, errors.ts, input/, type schemas/',
    'transport/': 'ky, zod, errors.ts, schemas/, input/, api-promise.ts, type node:',
    'resources/': 'zod, schemas/, input/, pagination.ts, errors.ts, api-promise.ts, type transport/',
    'webhooks/':
      'node:crypto, node:buffer, zod, schemas/event.ts, schemas/moment.ts, type schemas/, input/, errors.ts',
    'options.ts': 'zod, transport/, input/, errors.ts, version.ts',
    'client.ts': 'zod, options.ts, transport/, resources/, errors.ts, api-promise.ts',
    'index.ts':
      'client.ts, errors.ts, api-promise.ts, pagination.ts, webhooks/, type options.ts, type resources/, type schemas/, type transport/',
    'inbox/': 'node:, zod, webhooks/, errors.ts, schemas/, input/, matching/',
    'matching/': 'zod, schemas/money.ts, input/, errors.ts',
    'sending/': 'node:, cross-spawn, webhooks/, input/',
    'doctor/': 'node:, zod, sending/, webhooks/, input/, errors.ts, version.ts',
    'crash-test/': 'node:, sending/, webhooks/, input/',
    'sandbox/':
      'hono, @hono/node-server, uqr, zod, node:, schemas/params.ts, type schemas/, input/, webhooks/, sending/, doctor/, errors.ts, version.ts',
    'cli/':
      'node:, zod, sandbox/, doctor/, crash-test/, inbox/, webhooks/, sending/, input/, errors.ts, version.ts, merchant-payments',
  }).map(([room, allowed]) => [room, allowed.split(', ')]),
);

const files = filesIn('src').filter((name) => name.endsWith('.ts'));
const roomOf = (path: string) => path.replace(/\/.*/, '/');

/** A file's imports and what it declares for others. The formatter keeps each at the start of a line. */
function read(file: string) {
  const text = readFileSync(join('src', file), 'utf8');
  const statement = /^(?:import|export) (?:([^;'"]*?) from )?'(.+?)'|\bimport\('(.+?)'\)/gm;
  const imports = [...text.matchAll(statement)].map(([, names = '', from, loaded]) => {
    const to = from ?? loaded ?? '';
    return {
      to: to.startsWith('.') ? join(dirname(file), to).replace(/\.js$/, '.ts') : to,
      isType: /^type |^\{(?:\s*type [^,]+,?)+\s*\}$/.test(names),
    };
  });
  const declaration =
    /^export (?:(?:abstract|async) )?(?:class|interface|type|function\*?|const) (\w+)[\s\S]*?(?=\n\n|\n$)/gm;
  return {
    imports,
    declared: [...text.matchAll(declaration)].map(([whole, name = '']) => ({ name, whole })),
  };
}

const sources = new Map(files.map((file) => [file, read(file)]));

test('each room imports what it may, and nothing else', () => {
  const refused = [...sources].flatMap(([file, { imports }]) => {
    const room = roomOf(file);
    const may = (to: string, isType: boolean) =>
      (files.includes(to) && roomOf(to) === room) ||
      rooms.get(room)?.some((allowed) => {
        const name = allowed.replace('type ', '');
        const same = /[/:]$/.test(name) ? to.startsWith(name) : to === name || to.startsWith(`${name}/`);
        return same && (isType || name === allowed);
      });
    return imports.filter(({ to, isType }) => !may(to, isType)).map(({ to }) => `${file} imports ${to}`);
  });
  expect(refused).toEqual([]);
});

test('the core of the sandbox imports nothing of the doctor, which examines what it sends to', () => {
  const core = [...sources].filter(([file]) => /^sandbox\/(?:service|delivery|http)\//.test(file));
  expect(core.length).toBeGreaterThan(15);
  const examined = core.flatMap(([file, { imports }]) =>
    imports.filter(({ to }) => to.startsWith('doctor/')).map(({ to }) => `${file} imports ${to}`),
  );
  expect(examined).toEqual([]);
});

test('no files import each other in a circle', () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const follow = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' > '));
    if (done.has(file) || path.includes(file)) return;
    for (const { to } of sources.get(file)?.imports ?? [])
      if (files.includes(to)) follow(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) follow(file, []);
  expect(circles).toEqual([]);
});

test('no room is more than eight files deep in imports that are loaded', () => {
  const depths = new Map<string, number>();
  const depth = (file: string): number => {
    const within = sources
      .get(file)
      ?.imports.filter(({ to, isType }) => !isType && files.includes(to) && roomOf(to) === roomOf(file));
    const known = depths.get(file) ?? 1 + Math.max(0, ...(within ?? []).map(({ to }) => depth(to)));
    depths.set(file, known);
    return known;
  };
  expect(files.filter((file) => depth(file) > 8)).toEqual([]);
});

test('no two rooms export different things of one name', () => {
  const all = [...sources].flatMap(([file, { declared }]) =>
    declared.map((one) => ({ ...one, room: roomOf(file) })),
  );
  const clashes = all.filter(({ name, whole, room }) =>
    all.some((other) => other.name === name && other.room !== room && other.whole !== whole),
  );
  expect(clashes.map(({ name, room }) => `${name} of ${room}`)).toEqual([]);
});
