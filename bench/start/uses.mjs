// The smallest realistic use of each package: a client, and one call to make.
export const uses = {
  ours: {
    packageName: 'merchant-payments',
    code: `import { PaymentsClient } from 'merchant-payments';
      const client = new PaymentsClient({ apiKey: 'x', baseUrl: 'https://api.example' });
      export const get = (id) => client.checkouts.retrieve(id);`,
  },
  stripe: {
    packageName: 'stripe',
    code: `import Stripe from 'stripe';
      const client = new Stripe('sk_test_x');
      export const get = (id) => client.products.retrieve(id);`,
  },
  openai: {
    packageName: 'openai',
    code: `import OpenAI from 'openai';
      const client = new OpenAI({ apiKey: 'x' });
      export const get = (id) => client.models.retrieve(id);`,
  },
  polar: {
    packageName: '@polar-sh/sdk',
    code: `import { createPolar } from '@polar-sh/sdk/2026-10';
      const client = createPolar({ accessToken: 'x' });
      export const get = (id) => client.products.get(id);`,
  },
  paddle: {
    packageName: '@paddle/paddle-node-sdk',
    code: `import { Paddle } from '@paddle/paddle-node-sdk';
      const client = new Paddle('x');
      export const get = (id) => client.products.get(id);`,
  },
  creem: {
    packageName: 'creem',
    code: `import { Creem } from 'creem';
      const client = new Creem({ apiKey: 'x' });
      export const get = (id) => client.products.get(id);`,
  },
  mollie: {
    packageName: '@mollie/api-client',
    code: `import { createMollieClient } from '@mollie/api-client';
      const client = createMollieClient({ apiKey: 'test_0123456789012345678901234567890' });
      export const get = (id) => client.payments.get(id);`,
  },
  lemonsqueezy: {
    packageName: '@lemonsqueezy/lemonsqueezy.js',
    code: `import { getProduct, lemonSqueezySetup } from '@lemonsqueezy/lemonsqueezy.js';
      lemonSqueezySetup({ apiKey: 'x' });
      export const get = (id) => getProduct(id);`,
  },
  resend: {
    packageName: 'resend',
    code: `import { Resend } from 'resend';
      const client = new Resend('re_x');
      export const get = (id) => client.emails.get(id);`,
  },
};
