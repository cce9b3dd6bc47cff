import { PaymentsClient } from 'merchant-payments';

// Nothing listens there.
const payments = new PaymentsClient({ apiKey: 'key', baseUrl: process.argv[2], maxRetries: 0 });
payments.balance.retrieve().catch((error) => console.log(error.name, error.outcome));
