// Loads every entry in the global scope of a worker, where a runtime allows less than within a request.
import * as main from 'merchant-payments';
import * as inbox from 'merchant-payments/inbox';
import * as matching from 'merchant-payments/matching';
import * as sandbox from 'merchant-payments/sandbox';
import * as webhooks from 'merchant-payments/webhooks';

export default {
  test() {
    for (const entry of [main, inbox, matching, sandbox, webhooks])
      if (Object.keys(entry).length === 0) throw new Error('an entry exports nothing');
  },
};
