// What a run does, all of it from one seed: which orders are paid, in which order their deliveries come, which come more
// than once, which are forged, and when which process is killed.

export interface Order {
  id: string;
  /** In cents; no two orders of a run have the same. */
  cents: number;
}

/** One delivery, or several of the same order at once. */
export interface Sending {
  order: Order;
  times: number;
  /** Signed with another secret: the order was never paid. */
  forged: boolean;
}

export interface Kill {
  /** Once this many sendings have begun. */
  at: number;
  /** A number from which the process is chosen. */
  pick: number;
  afterMs: number;
}

export interface Plan {
  paid: Order[];
  sendings: Sending[];
  kills: Kill[];
  /** Which instance gets a delivery. */
  random(): number;
}

export const scale = { orders: 1000, twice: 100, thriceAtOnce: 20, forged: 40, kills: 30 };

export function makePlan(seed: number): Plan {
  const random = randomFrom(seed);
  const integer = (below: number) => Math.floor(random() * below);
  const order = (cents: number, name: string): Order => ({ id: `ord_${seed}_${name}`, cents });

  const paid = Array.from({ length: scale.orders }, (_, number) => order(1000 + number, `${number}`));
  shuffle(paid);
  const sendings = paid.map((one, place): Sending => {
    const atOnce = place >= scale.twice && place < scale.twice + scale.thriceAtOnce;
    return { order: one, times: atOnce ? 3 : 1, forged: false };
  });
  shuffle(sendings);
  for (const again of paid.slice(0, scale.twice)) {
    const first = sendings.findIndex((sending) => sending.order === again);
    const place = first + 1 + integer(sendings.length - first);
    sendings.splice(place, 0, { order: again, times: 1, forged: false });
  }
  for (let number = 0; number < scale.forged; number++) {
    const forged = order(1000 + integer(scale.orders), `forged_${number}`);
    sendings.splice(integer(sendings.length), 0, { order: forged, times: 1, forged: true });
  }
  const kills = Array.from({ length: scale.kills }, () => ({
    at: integer(sendings.length),
    pick: random(),
    afterMs: integer(50),
  })).sort((one, other) => one.at - other.at);
  return { paid, sendings, kills, random };

  function shuffle(list: unknown[]): void {
    for (let last = list.length - 1; last > 0; last--) {
      const other = integer(last + 1);
      [list[last], list[other]] = [list[other], list[last]];
    }
  }
}

/** Mulberry32: small, and the same on every platform. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
