// Code within the sentences and tables of a page, such as `error.requestId` or `inbox.drain({ forMs: '20s' })`, as TypeScript that
// compiles if it is true: on its line, and for the error classes that its paragraph, table row or comment names.
import { readFileSync } from 'node:fs';

const main = "import('merchant-payments')";
const webhooks = "import('merchant-payments/webhooks')";

/** The types of the names in the pages, and what else a call may be given. */
const subjects = {
  balance: `${main}.PaymentsClient['balance']`,
  checkout: `${main}.CheckoutSession`,
  checkouts: `${main}.PaymentsClient['checkouts']`,
  client: `${main}.PaymentsClient`,
  delivery: `${webhooks}.Delivery`,
  event: `${main}.OrderPaidEvent`,
  inbox: "import('merchant-payments/inbox').Inbox",
  payments: `${main}.PaymentsClient`,
  products: `${main}.PaymentsClient['products']`,
  received: `${main}.ReceivedBody`,
  sandbox: "import('merchant-payments/sandbox').Sandbox",
  scheme: `${webhooks}.SignatureScheme`,
};
const given = `id: string, scheme: ${subjects.scheme}`;
const everyClass = `${main}.AnyPaymentsError`;
const builtIn = ['Error', 'TypeError', 'SyntaxError', 'AbortError'];

/** The fields of the error classes. */
const facts = new Set(
  [...readFileSync('src/errors.ts', 'utf8').matchAll(/^ {2}declare readonly (\w+)/gm)].map(
    ([, name]) => name,
  ),
);

/** The program for a page: line n of it says what line n of the page says. */
export function proseProgram(text) {
  const lines = text.split('\n').map(() => '');
  for (const { line, type, subject, code } of claims(text)) {
    const more = subject === 'scheme' ? '' : `, ${given}`;
    lines[line - 1] += `((${subject}: ${type}${more}) => (${code}));`;
  }
  const anyOf =
    'type AnyOf<Classes> = { [Fact in Classes extends unknown ? keyof Classes : never]: unknown };';
  return `${lines.join('\n')}\n${anyOf}`;
}

function* claims(text) {
  for (const { line, text: block } of blocks(text)) {
    const row = block.startsWith('|');
    const first = row ? classesIn(block.split('|')[1]) : [];
    const classes = classesIn(block);
    for (const { code, line: below } of inlineCode(block)) {
      const at = { line: line + below, code: code.replace(/\(\)$/, '') };
      const [, subject] = /^([a-z]\w*)\??\.[a-z]/.exec(code) ?? [];
      if (subject === 'error') yield { ...at, subject, type: anyOf(classes) };
      else if (Object.hasOwn(subjects, subject ?? '')) yield { ...at, subject, type: subjects[subject] };
      else if (facts.has(code) && first.length > 0)
        for (const type of first) yield { ...at, subject: 'error', type, code: `error.${code}` };
      else if (facts.has(code) && !row && classes.length > 0)
        yield { ...at, subject: 'error', type: anyOf(classes), code: `error.${code}` };
    }
  }
}

/** Table rows, list items and paragraphs, each with its first line; of code blocks the comments. */
function* blocks(text) {
  const prose = text.replaceAll(/^( *)```.*?^\1```/gms, (fence) => fence.replaceAll(/^.*$/gm, commentOf));
  let block;
  for (const [index, content] of prose.split('\n').entries()) {
    if (block && content !== '' && !/^ *([-*|#>]|\d+\.) ?/.test(content)) {
      block.text += `\n${content}`;
      continue;
    }
    if (block) yield block;
    block = content === '' ? undefined : { line: index + 1, text: content };
  }
  if (block) yield block;
}

function commentOf(line) {
  const [, comment = ''] = /(?:^|\s)\/\/ (.*)/.exec(line) ?? [];
  return comment.replaceAll(/\b(error\.\w+|[A-Z]\w*Error)\b/g, '`$1`');
}

function inlineCode(block) {
  return [...block.matchAll(/`([^`]+)`/g)].map((match) => ({
    code: match[1].replaceAll('\n', ' '),
    line: block.slice(0, match.index).split('\n').length - 1,
  }));
}

function classesIn(block) {
  return inlineCode(block)
    .map(({ code }) => code)
    .filter((code) => /^[A-Z]\w*Error$/.test(code) && !builtIn.includes(code))
    .map((name) =>
      name === 'SandboxError' ? "import('merchant-payments/sandbox').SandboxError" : `${main}.${name}`,
    );
}

/** Without a class, what `isPaymentsError()` leaves; with several, a fact of any of them. */
function anyOf(classes) {
  if (classes.length < 2) return classes[0] ?? everyClass;
  return `AnyOf<${classes.join(' | ')}>`;
}
