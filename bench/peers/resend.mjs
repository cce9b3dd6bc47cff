// Resend: fetch without a time limit or retries; copies the answer's headers into an object.
import { Resend } from 'resend';

export default function resend({ baseUrl }) {
  const client = new Resend('re_x', { baseUrl: `${baseUrl}/resend` });
  const newEmail = {
    from: 'Shop <s@example.test>',
    to: ['a@example.test'],
    subject: 'Walnut desk no. 1',
    text: 'A hand-finished walnut desk with a cable tray',
  };
  return {
    retrieve: async () => (await client.emails.get('4ef9a417-02e9-4d39-ad75-000001000001')).data.id,
    create: async () => (await client.emails.send(newEmail)).data.id,
    list: async () => (await client.emails.list({ limit: 100 })).data.data.length,
  };
}
