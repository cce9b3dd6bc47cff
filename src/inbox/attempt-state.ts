/** The state of an attempt: what may begin in it, and who decides on its outcome. */
export type AttemptState =
  /** Its function runs, and has called neither `commit()` nor `done()`. */
  | 'open'
  /** `commit()` runs. */
  | 'committing'
  /** `done()` was called: only the row says if the transaction of the shop has committed. */
  | 'marking'
  /** `commit()` has succeeded: the delivery is done, whatever follows. */
  | 'committed'
  /** Somebody else has the delivery, and this attempt says nothing about it. */
  | 'taken'
  /** Somebody else has the delivery, unless the `commit()` that runs succeeds. */
  | 'taken while committing'
  /** Somebody else has the delivery, unless the row says that it is done. */
  | 'taken while marking'
  /** Nothing more can begin: the claim is being settled, or was. */
  | 'over'
  /** The delivery was marked done because its function returned without `commit()` and `done()`. */
  | 'returned';

export type AttemptEvent =
  /** The function called `commit()`. */
  | 'commit'
  /** The function called `done()`. */
  | 'done'
  /** `commit()` has succeeded. */
  | 'committed'
  /** Another process, `retry()` with force or `close()` has taken the delivery. */
  | 'taken'
  /** The function has ended, and so has a commit that it began. */
  | 'ended'
  /** The claim was settled as done because the function returned. */
  | 'returned';

const following: Readonly<Record<AttemptState, Readonly<Partial<Record<AttemptEvent, AttemptState>>>>> = {
  open: { commit: 'committing', done: 'marking', taken: 'taken', ended: 'over' },
  committing: { committed: 'committed', taken: 'taken while committing', ended: 'over' },
  marking: { taken: 'taken while marking', ended: 'over' },
  committed: { ended: 'over' },
  taken: {},
  'taken while committing': { committed: 'committed', ended: 'taken' },
  'taken while marking': { ended: 'taken' },
  over: { taken: 'taken', returned: 'returned' },
  returned: {},
};

/** Returns the state that follows; the same one if an event changes nothing. */
export function stateAfter(state: AttemptState, event: AttemptEvent): AttemptState {
  return following[state][event] ?? state;
}

/** True if nothing can begin any more. */
export function isOver(state: AttemptState): boolean {
  return state === 'taken' || state === 'over' || state === 'returned';
}

/** True if somebody else has the delivery, as far as this attempt knows. */
export function isTaken(state: AttemptState): boolean {
  return state.startsWith('taken');
}
