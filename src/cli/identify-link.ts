import { fieldsOf, findLink, type Link } from '../doctor/link.js';
import { eventLinks } from '../sandbox/service/event-links.js';
import { retrieveCheckout } from './retrieve-checkout.js';
import { print, printJson, verdict } from './terminal.js';

/** Finds the field that names the checkout, prints it, and returns the exit code. */
export async function link(rawBody: Uint8Array, json: boolean): Promise<number> {
  const result = await findLink(rawBody, retrieveCheckout());
  const sandbox = result.found ? choiceFor(rawBody, result) : 'none';
  if (json) printJson({ ...result, sandbox });
  else print(described(result, sandbox));
  return result.found ? 0 : 1;
}

/** The choice of `unspecified.eventLink` that puts the id into the same place, in the same form. */
function choiceFor(rawBody: Uint8Array, { field, checkoutId = '' }: Link): string | undefined {
  const path = field?.replaceAll(/\[\d+\]/g, '[0]');
  const value = fieldsOf(rawBody).find((one) => one.path === field)?.value;
  if (path === 'data.order_id') return value === checkoutId ? 'order_id' : undefined;
  return Object.entries(eventLinks).find(([, fields]) =>
    fieldsOf(Buffer.from(JSON.stringify(fields(checkoutId)))).some(
      (one) => one.path === path && one.value === value,
    ),
  )?.[0];
}

function described(
  { found, summary, field, undocumented, notes }: Link,
  sandbox: string | undefined,
): string {
  const lines = [verdict(found, summary)];
  if (found)
    lines.push(
      '',
      `Keep the checkout session's id with your order, and find the order by event.${field}.`,
      '',
      ...(sandbox === undefined
        ? ['The sandbox has no option that puts the id into the same place, in the same form.']
        : [
            'The sandbox does the same with:',
            '',
            `  merchant-payments sandbox --unspecified eventLink=${sandbox}`,
            `  createSandbox({ unspecified: { eventLink: '${sandbox}' } })`,
          ]),
    );
  if (undocumented.length > 0)
    lines.push(
      '',
      'Fields that the specification does not list:',
      ...undocumented.map((path) => `  ${path}`),
    );
  lines.push('', ...notes.map((note) => `- ${note}`));
  return lines.join('\n');
}
