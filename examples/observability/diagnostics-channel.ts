/**
 * Publishes what the client does on Node's own channels, for tools that subscribe without knowing the client:
 * `merchant-payments:request`, `:response`, `:retry`, `:error` and `:end`.
 *
 *     new PaymentsClient({ hooks: diagnosticsHooks() })
 *     diagnosticsChannel.subscribe('merchant-payments:error', (facts) => alert(facts));
 */
import { channel } from 'node:diagnostics_channel';
import type { Hooks } from 'merchant-payments';

export function diagnosticsHooks(): Hooks {
  const publish = (name: string) => {
    const target = channel(`merchant-payments:${name}`);
    return (facts: object) => {
      target.publish(facts);
    };
  };
  return {
    request: publish('request'),
    response: publish('response'),
    retry: publish('retry'),
    error: publish('error'),
    end: publish('end'),
  };
}
