import { html } from 'hono/html';
import type { Diagnosis } from '../../../doctor/diagnosis.js';
import type { Finding } from '../../../doctor/findings.js';
import type { SandboxContext } from '../../context.js';
import type { Html } from '../layout.js';
import { badge, dashboardPage, doctorForm, table } from './frame.js';
import { millisecondsText } from './moments.js';

/** What the doctor found: the fault and the line to change first, then every delivery that showed it. */
export function diagnosisPage(context: SandboxContext, diagnosis: Diagnosis): Promise<Response> {
  const { ok, target, summary, findings, warnings, notes, probes, tried, expects } = diagnosis;
  const [first, ...others] = findings;
  return dashboardPage({
    title: 'Doctor',
    tab: '/developer',
    content: html`<p class="crumb"><a href="/developer#webhook">Webhook Settings</a></p>
<div class="heading"><div><h1>Doctor</h1><p class="soft small"><code>${target}</code></p></div>
${doctorForm(context, 'Run again')}</div>
<div class="notice ${ok ? 'good' : 'bad'}" role="status" data-testid="doctor-summary"><div><h2>${first?.problem ?? summary}</h2>${first !== undefined && html`<p>${first.fix}</p>`}${first !== undefined && shown(first)}</div></div>
${[...others, ...warnings].map(told)}
${expects !== undefined && Object.keys(expects).length > 0 && html`<section class="panel"><h2>It would accept</h2><pre tabindex="0" aria-label="Scheme">${JSON.stringify(expects, null, 2)}</pre></section>`}
<section aria-labelledby="probes"><h2 id="probes">Deliveries</h2>
${table(
  'What was sent, and the responses',
  ['Delivery', 'Expected', 'Response', 'Took'],
  probes.map(
    ({ says, expected, outcome, status, error, durationMs }) => html`<tr data-testid="probe">
<td class="main">${says}${error !== undefined && html`<br><span class="soft small">${error}</span>`}</td><td data-label="Expected:">${expected}</td>
<td>${badge(status === undefined ? outcome : `${outcome} ${status}`, outcome === expected ? 'good' : 'bad')}</td>
<td class="number soft">${millisecondsText(durationMs)}</td></tr>`,
  ),
)}
${tried > 0 && html`<p class="soft small">Then ${tried} other ways to sign, to find out what it would accept.</p>`}</section>
${notes.length > 0 && html`<section aria-labelledby="notes"><h2 id="notes">What only you can see</h2>${notes.map((note) => html`<p>${note}</p>`)}</section>`}`,
  });
}

const told = (finding: Finding): Html =>
  html`<div class="hint"><p><span class="strong">${finding.problem}</span> ${finding.fix}</p>${shown(finding)}</div>`;

/** What showed a finding, its code, and where the docs explain it. */
const shown = ({ code, evidence, docs }: Finding): Html =>
  html`${evidence !== undefined && html`<p class="small">${evidence}</p>`}<p class="small"><code>${code}</code>: see <code>${docs}</code></p>`;
