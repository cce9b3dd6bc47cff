import { expect, it } from 'vitest';
import { ConfigurationError, openInbox } from '../../src/inbox/index.js';

it.skipIf(process.getBuiltinModule('node:sqlite'))(
  'on a runtime without node:sqlite an inbox is refused, and the error names what works there',
  () => {
    const open = () => openInbox({ file: ':memory:', secret: 'whsec_x', on: { 'order.paid': () => {} } });
    expect(open).toThrow(ConfigurationError);
    expect(open).toThrow(/Node 22\.13.*`accept` of handler\(\) and nodeHandler\(\)/);
  },
);
