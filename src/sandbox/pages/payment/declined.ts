import { html } from 'hono/html';
import { alertIcon } from '../icons.js';
import type { Html } from '../layout.js';
import type { CheckoutView } from './checkout-view.js';

/**
 * After a declined card or wallet the form of `open.ts` is shown again, under this. It takes the focus and leads to the
 * choice that fixes it.
 */
export function declinedNotice({ declined, say }: CheckoutView): Html | undefined {
  if (declined === undefined) return undefined;
  return html`<div class="problem" role="alert" tabindex="-1" autofocus data-testid="problem">${alertIcon}<div>
<h2>${say('problemHeading')}</h2>
<p id="problem-text">${say(declined)}</p>
<p><a href="#method-card">${say('problemFix')}</a></p>
</div></div>`;
}
