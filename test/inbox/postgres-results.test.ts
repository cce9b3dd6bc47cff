import { describe, expect, it } from 'vitest';
import { hasChanged } from '../../src/inbox/postgres.js';

const changed = [{ id: '5' }];
const count = { changed: 1, none: 0 };

/** The results of each driver for an UPDATE ... RETURNING id of one row, and of none. */
const results: [driver: string, changed: unknown, none: unknown][] = [
  ['pg, Knex, Drizzle', { rows: changed, rowCount: 1 }, { rows: [], rowCount: 0 }],
  ['pg with rowMode array', { rows: [['5']] }, { rows: [] }],
  ['pg, after BEGIN in one text', [{ rows: [] }, { rows: changed }], [{ rows: [] }, { rows: [] }]],
  ['Kysely', { rows: changed, numAffectedRows: 1n }, { rows: [], numAffectedRows: 0n }],
  ['postgres.js', Object.assign([...changed], { count: 1 }), Object.assign([], { count: 0 })],
  ['postgres.js, values()', [['5']], []],
  ['a driver with numbers', [{ id: 5 }], []],
  ['Prisma, $queryRawUnsafe', [{ id: 5n }], []],
  ['Prisma, $executeRawUnsafe', count.changed, count.none],
  ['a driver with bigint counts', 1n, 0n],
  ['TypeORM, manager.query', [changed, 1], [[], 0]],
  ['Sequelize', [changed, { rows: changed, rowCount: 1 }], [[], { rows: [], rowCount: 0 }]],
  ['Sequelize, QueryTypes.UPDATE', [changed, 1], [[], 0]],
  ['Sequelize, QueryTypes.UPDATE of old versions', [undefined, 1], [undefined, 0]],
  ['Sequelize, QueryTypes.UPDATE and plain', [{ id: '5' }, 1], [[], 0]],
  ['Sequelize, QueryTypes.SELECT', changed, []],
];

describe('the result that the function passed to done() returns', () => {
  it.each(results)('says whether the row was changed: %s', (_driver, one, none) => {
    expect([hasChanged(one, 5), hasChanged(none, 5)]).toEqual([true, false]);
  });

  it.each<[unknown]>([
    [undefined],
    [null],
    [true],
    ['5'],
    [{}],
    [{ rowCount: 1 }],
    [2],
    [-1],
    [[[]]],
    [[undefined]],
    [[null]],
    [[{}]],
    [[{ id: '6' }]],
    [[{ id: '5' }, { id: '6' }]],
    [[[], undefined]],
    [[changed, {}]],
    [{ rows: 1 }],
  ])('is not guessed: %j', (result) => {
    expect(hasChanged(result, 5)).toBeUndefined();
  });
});
