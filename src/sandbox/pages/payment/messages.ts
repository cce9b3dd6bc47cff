/** Every text of the payment page, in English. `{…}` is filled in; `lang` is the language of the page. */
const english = {
  lang: 'en',
  banner: 'Sandbox: no money moves. Never enter a real card.',
  backTo: 'Back to {merchant}',
  payTo: 'Pay {merchant}',
  expiresIn: 'Expires in {time}',
  expiresAt: 'This payment link expires at {moment}.',
  minutesLeft: '{minutes} minutes left to pay.',
  minuteLeft: 'One minute left to pay.',
  timeIsUp: 'The time to pay is up.',
  chooseMethod: 'How would you like to pay?',
  card: 'Card',
  walletA: 'Wallet A',
  walletB: 'Wallet B',
  chooseCard: 'Test card',
  cardHint: 'There is no field for a card number: each test card has its outcome.',
  cardApproved: 'Approved',
  cardDeclined: 'Declined',
  cardLacksFunds: 'Insufficient funds',
  walletHint: 'You get a code to scan with your phone, or to approve on this machine.',
  pay: 'Pay {amount}',
  continueWith: 'Continue with {wallet}',
  problemHeading: 'The payment did not go through',
  problemFix: 'Choose how to pay and try again.',
  card_declined: 'The card was declined. Nothing was charged.',
  insufficient_funds: 'The card has insufficient funds. Nothing was charged.',
  wallet_declined: 'The payment was declined in the wallet. Nothing was charged.',
  waiting: 'Waiting for approval',
  scan: 'Scan the code with your phone’s camera and approve the payment in {wallet}.',
  qrLabel: 'QR code that opens this payment in {wallet}',
  walletLink: 'The code’s address',
  loopbackOnly: 'A phone cannot reach this address: start the sandbox with --host and --public-url.',
  here: 'On this machine',
  approve: 'Approve',
  decline: 'Decline',
  otherMethod: 'Choose another way to pay',
  copy: 'Copy',
  copied: 'Copied',
  paid: 'Paid {amount}',
  paidTo: 'Your payment to {merchant} went through.',
  order: 'Order',
  leaving: 'You are being taken back to {merchant}.',
  staying: 'You can close this page.',
  continueTo: 'Continue to {merchant}',
  cancelled: 'Payment cancelled',
  cancelledText: 'Nothing was charged.',
  returnToPayment: 'Return to payment',
  expired: 'This payment link has expired',
  expiredText: 'Nothing was charged. Ask {merchant} for a new link.',
  expiredWaiting: '{wallet} can no longer approve it. Nothing was charged. Ask {merchant} for a new link.',
  archived: 'This product is no longer sold',
  archivedText: '{merchant} has archived it, so it cannot be paid. Nothing was charged.',
  unknown: 'There is no such payment',
  unknownText: 'Check the link. The sandbox forgets its payments when it is reset or ends.',
  staleForm: 'This form is out of date',
  staleFormText: 'It is not from this payment page, or the sandbox was started anew. Nothing was done.',
  badChoice: 'There is no such choice',
  badChoiceText: 'The form holds a value that the page does not offer. Nothing was done.',
  walletHeading: 'Pay {amount}?',
  merchant: 'To',
  product: 'For',
  walletApproved: 'Approved',
  walletApprovedText: '{amount} to {merchant}. The payment page goes on by itself.',
  walletDeclined: 'Declined',
  walletDeclinedText: 'Nothing was charged. Choose another way on the payment page.',
  walletNothing: 'Nothing to approve',
  walletNothingText: 'The payment page no longer waits for {wallet}.',
  developer: 'Developer',
  checkoutId: 'Checkout',
  state: 'State',
  event: 'Event',
  expireNow: 'Expire now',
  dashboard: 'Open the dashboard',
};

/** The texts of the payment page by name. Braces hold what is filled in, such as `{amount}`. */
export type PageMessages = { [Name in keyof typeof english]: string };

export const defaultMessages: PageMessages = english;

/** A text of the page with its values. */
export type Say = (name: keyof PageMessages, values?: Record<string, string>) => string;

/** `always` holds the values that any text may name. */
export function speaker(messages: PageMessages, always: Record<string, string> = {}): Say {
  return (name, values = {}) =>
    messages[name].replace(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? always[key] ?? whole);
}
