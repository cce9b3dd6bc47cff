import { describe, expect, it } from 'vitest';
import {
  type AttemptEvent,
  type AttemptState,
  isOver,
  isTaken,
  stateAfter,
} from '../../src/inbox/attempt-state.js';

const events: AttemptEvent[] = ['commit', 'done', 'committed', 'taken', 'ended', 'returned'];

const stateAfterAll = (...given: AttemptEvent[]) => given.reduce<AttemptState>(stateAfter, 'open');

/** Every history of up to six events. */
const histories = (length: number): AttemptEvent[][] =>
  length === 0 ? [[]] : histories(length - 1).flatMap((before) => events.map((event) => [...before, event]));

describe('the state of an attempt', () => {
  it.each<[AttemptEvent[], AttemptState]>([
    [[], 'open'],
    [['ended', 'returned'], 'returned'],
    [['commit', 'committed'], 'committed'],
    [['commit', 'taken', 'committed'], 'committed'],
    [['commit', 'taken', 'ended'], 'taken'],
    [['done', 'taken'], 'taken while marking'],
    [['done', 'taken', 'ended'], 'taken'],
    [['ended', 'taken', 'returned'], 'taken'],
  ])('after %j is %s', (given, state) => {
    expect(stateAfterAll(...given)).toBe(state);
  });

  it('lets one commit() or done() begin, and none once it is over', () => {
    for (const given of histories(5)) {
      const before = stateAfterAll(...given);
      if (before !== 'open')
        for (const event of ['commit', 'done'] as const) expect(stateAfter(before, event)).toBe(before);
    }
  });

  it("is never somebody else's once commit() has succeeded, and stays that until the function has ended", () => {
    for (const given of histories(3)) {
      const state = stateAfterAll('commit', 'committed', ...given);
      if (!given.includes('ended')) expect(state).toBe('committed');
    }
  });

  it('is over once its function has ended, whatever came before and comes then', () => {
    for (const given of histories(3))
      for (const then of histories(2)) expect(isOver(stateAfterAll(...given, 'ended', ...then))).toBe(true);
  });

  it('that was taken ends as taken, unless it turned out to be committed', () => {
    for (const given of histories(4)) {
      const state = stateAfterAll('taken', ...given);
      expect(isTaken(state)).toBe(true);
    }
  });
});
