// Reads the balance from a host that does not exist: only a proxy can answer.
import { PaymentsClient } from 'merchant-payments';

const [baseUrl] = process.argv.slice(2);
const client = new PaymentsClient({ apiKey: 'key', baseUrl, allowInsecureHttp: true });
const { available } = await client.balance.retrieve().catch(({ message }) => ({ available: message }));
process.stdout.write(available);
