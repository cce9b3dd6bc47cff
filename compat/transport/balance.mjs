// Reads the balance from a host that does not exist: only a proxy can answer.
import { PaymentsClient } from 'merchant-payments';

const [baseUrl] = process.argv.slice(2);
const client = new PaymentsClient({ apiKey: 'key', baseUrl, allowInsecureHttp: true, maxRetries: 0 });
const { available } = await client.balance
  .retrieve()
  .catch(({ phase, outcome }) => ({ available: `${phase}, ${outcome}` }));
process.stdout.write(available);
