import { z } from "zod";
import type { CallFacts } from "./call-log.ts";
import { parseInstruction } from "./problems.ts";
import { seededRandom } from "./seeded-random.ts";

const faultKinds = ["status", "drop", "slow", "half-body", "not-json", "wrong-types", "rate-limit"] as const;

/**
 * A disturbance of authenticated calls. `before`: the operation is not processed. `after`: it is processed, and then its answer is lost or
 * replaced. A `slow` fault always processes: `before` late and answered at once, `after` at once and answered late.
 */
export const faultSchema = z.strictObject({
  /** An operation's name, or `*` for all. */
  operation: z.string().min(1),
  when: z.enum(["before", "after"]),
  kind: z.enum(faultKinds),
  /** Of `status` (default 503), `not-json` and `wrong-types` (default 200, or the real one). */
  status: z.number().int().min(100).max(599).optional(),
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  /** Of `slow`; default 1000. */
  delayMs: z.number().int().min(0).optional(),
  /** Of `rate-limit`; default the rest of the window. */
  retryAfterSeconds: z.number().int().min(0).optional(),
  /** How often it strikes; without it until it is removed. */
  times: z.number().int().positive().optional(),
  /** How many matching calls pass before it strikes. */
  skip: z.number().int().min(0).optional(),
  probability: z.number().min(0).max(1).optional(),
  match: z
    .strictObject({
      invoice: z.string().optional(),
      saleId: z.string().optional(),
      itemId: z.string().optional(),
      referenceId: z.string().optional(),
      businessId: z.string().optional(),
      idempotencyKey: z.string().optional(),
    })
    .optional(),
});

export type Fault = z.input<typeof faultSchema>;

export interface FaultBooks {
  total: number;
  byKind: Record<string, number>;
  active: (Fault & { id: number; struck: number })[];
}

interface ActiveFault {
  id: number;
  fault: Fault;
  passed: number;
  struck: number;
}

function matches({ operation, match = {} }: Fault, called: string, facts: CallFacts): boolean {
  if (operation !== "*" && operation !== called) return false;
  return Object.entries(match).every(([name, value]) =>
    Object.entries(facts).some(([fact, known]) => fact === name && known === value),
  );
}

/** The injected faults; the same seed strikes the same calls. */
export class Faults {
  readonly #random: () => number;
  readonly #active = new Map<number, ActiveFault>();
  readonly #byKind = new Map<string, number>();
  #lastId = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** Returns the id under which `remove` takes it away. */
  inject(raw: unknown): number {
    const fault = parseInstruction("fault", faultSchema, raw);
    this.#lastId += 1;
    this.#active.set(this.#lastId, { id: this.#lastId, fault, passed: 0, struck: 0 });
    return this.#lastId;
  }

  remove(id: number): boolean {
    return this.#active.delete(id);
  }

  clear(): void {
    this.#active.clear();
  }

  /** The first fault that strikes this call; counts it. */
  strike(operation: string, when: Fault["when"], facts: CallFacts): Fault | undefined {
    for (const active of this.#active.values()) {
      const { fault } = active;
      if (fault.when !== when || !matches(fault, operation, facts)) continue;
      active.passed += 1;
      if (active.passed <= (fault.skip ?? 0)) continue;
      if (fault.probability !== undefined && this.#random() >= fault.probability) continue;
      active.struck += 1;
      if (fault.times !== undefined && active.struck >= fault.times) this.#active.delete(active.id);
      this.#byKind.set(fault.kind, (this.#byKind.get(fault.kind) ?? 0) + 1);
      return fault;
    }
    return undefined;
  }

  books(): FaultBooks {
    return {
      total: [...this.#byKind.values()].reduce((sum, count) => sum + count, 0),
      byKind: Object.fromEntries(this.#byKind),
      active: [...this.#active.values()].map(({ id, fault, struck }) => ({ ...fault, id, struck })),
    };
  }

  resetCounts(): void {
    this.#byKind.clear();
  }
}
