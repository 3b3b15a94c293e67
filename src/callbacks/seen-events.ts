/**
 * What all receivers know of: the ledger's `webhookEvents`. Both functions throw while it is away, soon: a sender waits
 * for the answer.
 */
export interface SharedEvents {
  isKnown(connection: string, eventId: string): Promise<boolean>;
  keep(connection: string, eventId: string): Promise<void>;
}

/** Which events of a connection were passed on. Never throws. */
export interface SeenEvents {
  has(connection: string, eventId: string): Promise<boolean>;
  add(connection: string, eventId: string): Promise<void>;
}

/** After it was away: the next sender need not wait for that again. */
const NOT_ASKED_FOR_MS = 10_000;

/**
 * Remembers by what all receivers share and, while that is away, by this process alone: an event that comes again to
 * another one then only asks for a synchronisation again, which is safe to repeat, so nothing is refused for it.
 */
export function createSeenEvents({
  shared,
  log,
  clock,
}: {
  /** Absent: this process remembers by itself. */
  shared: SharedEvents | undefined;
  log: { warn(fields: object, message: string): void };
  clock: () => number;
}): SeenEvents {
  const latest = new LatestEvents();
  let awayUntilMs = 0;
  const ask = async <Answer>(work: (events: SharedEvents) => Promise<Answer>): Promise<Answer | undefined> => {
    if (shared === undefined || clock() < awayUntilMs) return undefined;
    try {
      return await work(shared);
    } catch (error) {
      awayUntilMs = clock() + NOT_ASKED_FOR_MS;
      const why = error instanceof Error ? error.message : String(error);
      log.warn({ why }, "webhooks that come again are known to this process alone while the ledger is away");
      return undefined;
    }
  };
  return {
    async has(connection, eventId) {
      if (latest.has(connection, eventId)) return true;
      const isKnown = (await ask((events) => events.isKnown(connection, eventId))) ?? false;
      if (isKnown) latest.add(connection, eventId);
      return isKnown;
    },
    async add(connection, eventId) {
      latest.add(connection, eventId);
      await ask((events) => events.keep(connection, eventId));
    },
  };
}

/** The latest events of each connection, by id. */
class LatestEvents {
  readonly #most: number;
  readonly #seen = new Set<string>();

  /** @param most that are remembered; the one seen longest ago is forgotten */
  constructor(most = 20_000) {
    this.#most = most;
  }

  has(connection: string, eventId: string): boolean {
    return this.#seen.has(keyOf(connection, eventId));
  }

  add(connection: string, eventId: string): void {
    const key = keyOf(connection, eventId);
    this.#seen.delete(key);
    this.#seen.add(key);
    if (this.#seen.size <= this.#most) return;
    const oldest = this.#seen.values().next();
    if (!oldest.done) this.#seen.delete(oldest.value);
  }
}

/** No connection's name has a space. */
function keyOf(connection: string, eventId: string): string {
  return `${connection} ${eventId}`;
}
