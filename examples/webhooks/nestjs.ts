/**
 * A webhook receiver in NestJS. `rawBody: true` keeps the bytes beside the parsed body. Decorators need tsx:
 *
 *     npm install @nestjs/common @nestjs/core @nestjs/platform-express reflect-metadata rxjs tsx
 *     npx merchant-payments exec --webhook-url http://localhost:3007/webhooks -- npx tsx webhooks/nestjs.ts
 */
import 'reflect-metadata';
import { Controller, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type NodeRequest, type NodeResponse, nodeHandler } from 'merchant-payments/webhooks';

@Controller('webhooks')
class WebhooksController {
  readonly handle = nodeHandler({
    secret: process.env.PAYMENTS_WEBHOOK_SECRET,
    on: {
      'order.paid': async ({ data }) => {
        // Compare amount and currency with your own order before you ship anything.
        console.log(`fulfil ${data.order_id}: ${data.amount} ${data.currency}`);
      },
    },
  });

  @Post()
  receive(@Req() request: NodeRequest, @Res() response: NodeResponse): Promise<void> {
    return this.handle(request, response);
  }
}

@Module({ controllers: [WebhooksController] })
class AppModule {}

const app = await NestFactory.create(AppModule, { rawBody: true, logger: ['error', 'warn'] });
const port = process.env.PORT ?? '3007';
await app.listen(port);
console.log(`Waiting for webhooks on http://localhost:${port}/webhooks`);
