import { actionAt, type Result, tableText } from './inbox-action.js';
import { withOrderBook } from './inbox-place.js';
import { paragraphs, refuseUnless, verdict } from './terminal.js';

const why = {
  no_candidate: 'no open order asks for it',
  several_candidates: 'several orders ask for it',
  expired: 'its checkout had expired',
  only_candidate: 'it is certain by now',
  returned: 'it is certain by now',
};

/** Reminder after a decision: the command does not know the shop's tables, so it cannot fulfil the order. */
const unfulfilled =
  'Your shop is not told, and book.decide() of your code returns nothing for this order from now on: fulfil it by hand.';

export const decideHeld = actionAt(
  {
    name: 'held',
    summary:
      'lists payments for a person, with the orders that each may be for; decides on one, or dismisses it',
    usage: ' [--decide <payment> --order <order> | --dismiss <payment>]',
    example: ' --decide ord_1001 --order 7',
    flags: {
      decide: [
        '<payment>',
        'credits this payment to --order, even before its webhook arrives; fulfil the order by hand, or call book.decide() in your code instead',
      ],
      order: ['<order>', 'with --decide: the id of the order in your shop'],
      dismiss: ['<payment>', 'marks this payment as one for no order, as after a refund'],
    },
  },
  async (place, given): Promise<Result> => {
    const [decide, order, dismiss] = [given.text('decide'), given.text('order'), given.text('dismiss')];
    refuseUnless((decide === undefined) === (order === undefined), 'Pass --decide and --order together.');
    refuseUnless(!(decide && dismiss), 'Pass --decide or --dismiss, not both.');
    return withOrderBook(place, given.text('schema'), async (book): Promise<Result> => {
      if (decide !== undefined && order !== undefined) {
        const paid = await book.decide(decide, order);
        const text = paid.length > 0 ? `credited to order ${order}` : 'credited before';
        return [paragraphs(verdict(true, text), paid.length > 0 && unfulfilled), paid];
      }
      if (dismiss !== undefined) {
        await book.dismiss(dismiss);
        return [verdict(true, 'dismissed'), { dismissed: dismiss }];
      }
      const waiting = await book.held();
      const rows = waiting.map(({ payment, candidates, because }) => [
        ...[
          payment.id,
          `${payment.amount} ${payment.currency}`,
          payment.receivedAt.toISOString(),
          why[because],
        ],
        candidates.map(({ id, state }) => (state === 'open' ? id : `${id} (${state})`)).join(', '),
      ]);
      const head = ['PAYMENT', 'AMOUNT', 'RECEIVED AT', 'HELD BECAUSE', 'IT MAY BE FOR ORDER'];
      return [rows.length === 0 ? 'No payment waits for a person.' : tableText([head, ...rows]), waiting];
    });
  },
);
