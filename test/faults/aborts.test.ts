import { EventEmitter, getEventListeners } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { succeed } from '../helpers/bodies.js';
import { FaultyServer, respondWith, stall, writeBytes } from '../helpers/faulty-server.js';
import { call, carriers, clientOf, meet, methods, settle, watch } from '../helpers/meeting.js';

watch();

const begun = 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{';

describe.each(carriers)('over %s', (carrier) => {
  test.each(methods)('%s with a signal that was aborted before sends nothing', async (method) => {
    const reason = new Error('not needed');
    const { error, connections } = await meet(succeed, carrier, method, {}, AbortSignal.abort(reason));
    expect(error).toBe(reason);
    expect(connections).toBe(0);
  });

  test.each(methods)('%s that a hook aborts as its request goes out sends nothing', async (method) => {
    const controller = new AbortController();
    const hooks = { request: () => controller.abort('enough') };
    const { error, connections } = await meet(succeed, carrier, method, { hooks }, controller.signal);
    expect(error).toBe('enough');
    expect(connections).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test.each(methods)(
    '%s that is aborted while it waits ends at once with the reason itself',
    async (method) => {
      for (const behave of [stall, writeBytes(begun)]) {
        const controller = new AbortController();
        const reason = { why: 'the user left' };
        const used: Socket[] = [];
        const server = await FaultyServer.start((socket, request) => {
          used.push(socket);
          behave(socket, request);
        });
        const ended = settle(call(clientOf(carrier, server.url), method, controller.signal));
        await vi.waitFor(() => expect(used).toHaveLength(1), { interval: 1 });
        await pause(5);
        controller.abort(reason);
        expect((await ended).error).toBe(reason);
        await vi.waitFor(() => expect(used[0]?.destroyed).toBe(true), { interval: 1 });
        expect(server.requests).toHaveLength(1);
        expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
        await server.close();
      }
    },
  );

  test('a call that is aborted between attempts ends at once, and its timer is gone', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const controller = new AbortController();
    const server = await FaultyServer.start(respondWith(500));
    let waited = false;
    const retry = ({ delayMs }: { delayMs: number }) => {
      setTimeout(() => {
        waited = true;
      }, delayMs).unref();
      setImmediate(() => controller.abort('enough'));
    };
    const client = clientOf(carrier, server.url, { hooks: { retry } });
    expect((await settle(call(client, 'GET', controller.signal))).error).toBe('enough');
    expect(waited).toBe(false);
    expect(server.requests).toHaveLength(1);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    await server.close();
  });

  test("a time limit of the caller ends the call with the caller's own TimeoutError", async () => {
    let sent: unknown[] = [];
    // It counts while the platform connects too, which takes a busy machine longer.
    for (let limitMs = 250; sent.length === 0 && limitMs <= 16_000; limitMs *= 4) {
      const { error, requests } = await meet(stall, carrier, 'GET', {}, AbortSignal.timeout(limitMs));
      expect(error).toBeInstanceOf(DOMException);
      expect(error).toMatchObject({ name: 'TimeoutError' });
      sent = requests;
    }
    expect(sent).toHaveLength(1);
  });

  test('a signal that takes functions alone as listeners, as polyfills do, ends a call', async () => {
    const emitter = new EventEmitter();
    let aborted = false;
    const signal = Object.assign(new AbortController().signal, {
      addEventListener: emitter.on.bind(emitter),
      removeEventListener: emitter.off.bind(emitter),
      throwIfAborted: () => {
        if (aborted) throw 'enough';
      },
    });
    const server = await FaultyServer.start(() => {
      aborted = true;
      emitter.emit('abort');
    });
    const { error } = await settle(call(clientOf(carrier, server.url), 'POST', signal));
    expect(error).toBe('enough');
    expect(server.requests).toHaveLength(1);
    expect(emitter.listenerCount('abort')).toBe(0);
    await server.close();
  });

  test('one signal serves 1,000 calls at once and keeps no listener', async () => {
    const { signal } = new AbortController();
    const warned = vi.fn();
    process.on('warning', warned);
    const server = await FaultyServer.start(succeed);
    const client = clientOf(carrier, server.url);
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 100 }, () => call(client, 'GET', signal)));
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
    await server.close();
  });

  test('a clock that jumps back an hour during a call changes none of its limits', async () => {
    const now = Date.now();
    let calls = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => now - (calls++ > 0 ? 3_600_000 : 0));
    const { error } = await meet(stall, carrier, 'GET', { timeoutMs: 400, totalTimeoutMs: 400 });
    expect(error).toMatchObject({ name: 'TimeoutError', scope: 'total' });
  });
});
