import { setTimeout as delay } from "node:timers/promises";

/** How long one part may take to end before the rest is ended without it. */
const PART_MS = 15_000;

/** What was started, ended in the opposite order; a part that fails or hangs keeps no other from being ended. */
export class Cleanup {
  readonly #parts: { name: string; end: () => Promise<unknown> }[] = [];

  #over = false;

  add(name: string, end: () => Promise<unknown>): void {
    if (!this.#over) this.#parts.push({ name, end });
    // It came up while everything else was being ended.
    else void ended(end, PART_MS);
  }

  /** Returns what did not end well, in words. May be called again: each part is ended once. */
  async run(partMs = PART_MS): Promise<string[]> {
    this.#over = true;
    const problems: string[] = [];
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      const problem = await ended(part.end, partMs);
      if (problem !== undefined) problems.push(`${part.name}: ${problem}`);
    }
    return problems;
  }
}

async function ended(end: () => Promise<unknown>, withinMs: number): Promise<string | undefined> {
  const timer = new AbortController();
  const tooLate = delay(withinMs, `did not end within ${withinMs / 1_000} s`, { signal: timer.signal }).catch(
    () => undefined,
  );
  try {
    return await Promise.race([Promise.resolve(end()).then(() => undefined), tooLate]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    timer.abort();
  }
}
