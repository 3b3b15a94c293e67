/** The latest events of each source, by id. It lives in this process: an event that comes again to another one only asks for a sync again. */
export class SeenEvents {
  readonly #most: number;
  readonly #seen = new Set<string>();

  /** @param most that are remembered; the one seen longest ago is forgotten */
  constructor(most = 20_000) {
    this.#most = most;
  }

  has(source: string, eventId: string): boolean {
    return this.#seen.has(keyOf(source, eventId));
  }

  add(source: string, eventId: string): void {
    const key = keyOf(source, eventId);
    this.#seen.delete(key);
    this.#seen.add(key);
    if (this.#seen.size <= this.#most) return;
    const oldest = this.#seen.values().next();
    if (!oldest.done) this.#seen.delete(oldest.value);
  }
}

/** No connection's name has a space. */
function keyOf(source: string, eventId: string): string {
  return `${source} ${eventId}`;
}
