import { z } from "zod";

import { InstructionError, parseInstruction } from "./scenario.ts";
import { seededRandom } from "./seeded-random.ts";

const callKinds = ["status", "drop", "slow", "half-body", "not-json", "wrong-types", "rate-limit"] as const;
const authorityKinds = ["rejected", "in-flight", "cancelled"] as const;
const callbackKinds = ["lost", "early", "doubled", "out-of-order", "forged", "late"] as const;
export type CallFaultKind = (typeof callKinds)[number];
export type AuthorityFaultKind = (typeof authorityKinds)[number];
export type CallbackFaultKind = (typeof callbackKinds)[number];

/** The operation names under which a fault disturbs something else than a call. */
const elsewhere = new Map<string, readonly string[]>([
  ["callback", callbackKinds],
  ["authority", authorityKinds],
]);

/**
 * A disturbance of authenticated calls of either service. `before`: the operation is not processed. `after`: it is
 * processed, and then its answer is lost or replaced. A `slow` fault always processes: `before` late and answered at
 * once, `after` at once and answered late.
 *
 * Of the operation `authority` (a submission of a document): `rejected`, it is rejected whatever the script says;
 * `in-flight`, it stays in flight until it is submitted again or its script changes; `cancelled`, it is in flight and
 * after `delayMs` (default 0) cancelled.
 *
 * Of the operation `callback` (deliveries, which the service makes by itself):
 * - `lost`: this attempt never leaves, and the service takes it for delivered: without `redeliver` no other follows.
 * - `early`: the only callback goes out while the document is in flight, so that none follows its outcome.
 * - `doubled`: the attempt is sent twice at the same time.
 * - `out-of-order`: behind a `sale.completed` comes the older `sale.failed`, whether or not one was sent before.
 * - `forged`: while the document is in flight, a stranger sends a `sale.completed` with a false receipt, once to a URL
 *   with one character of its token changed and once to the very URL.
 * - `late`: the attempt is sent after `delayMs` (default a day), even when the document has moved on by then.
 */
export const faultSchema = z
  .strictObject({
    /** What somebody asked for (see triggers.ts), for those who look at what is set. */
    trigger: z.string().optional(),
    /** An operation's name of either service, `*` for all of the Compliance API, `authority` or `callback`. */
    operation: z.string().min(1),
    when: z.enum(["before", "after"]),
    kind: z.enum([...callKinds, ...authorityKinds, ...callbackKinds]),
    /** Of `status` (default 503), `not-json` and `wrong-types` (default 200, or the real one). */
    status: z.number().int().min(100).max(599).optional(),
    body: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    /** Of `slow` (default 1000), `cancelled` (0) and `late` (a day). */
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
        application: z.string().optional(),
        invoice: z.string().optional(),
        saleId: z.string().optional(),
        itemId: z.string().optional(),
        referenceId: z.string().optional(),
        /** Of the accounting service. */
        syncBatchId: z.string().optional(),
        status: z.string().optional(),
      })
      .optional(),
  })
  .superRefine(({ operation, when, kind }, context) => {
    const kinds: readonly string[] = elsewhere.get(operation) ?? callKinds;
    if (!kinds.includes(kind))
      context.addIssue({ code: "custom", path: ["kind"], message: `of "${operation}" must be ${kinds.join(", ")}` });
    if (elsewhere.has(operation) && when !== "before")
      context.addIssue({ code: "custom", path: ["when"], message: `of "${operation}" must be before` });
  });

export type Fault = z.input<typeof faultSchema>;
export type FaultOf<Kind extends Fault["kind"]> = Fault & { kind: Kind };
export type ActiveFault = Fault & { id: number; struck: number };

export interface FaultBooks {
  byKind: Record<string, number>;
  active: ActiveFault[];
}

/** What is known of a call, by the names that a fault can match; null is "not known". */
type Facts = Readonly<Record<string, string | null | undefined>>;

/**
 * The injected faults of both services; the same seed strikes the same calls. Each family has a chance of its own: that
 * a callback comes earlier or later must not change which calls are struck.
 */
export class Faults {
  readonly #seed: number;
  readonly #chances = new Map<string, () => number>();
  readonly #active = new Map<number, { fault: Fault; passed: number; struck: number }>();
  readonly #byKind = new Map<string, number>();
  #lastId = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /**
   * Returns the id under which `remove` takes it away.
   * @param operations the names that can be struck, besides `*` and those that are no calls
   * @throws InstructionError for any other name: such a fault would never strike, and its test pass untested
   */
  inject(raw: unknown, operations: readonly string[]): number {
    const fault = parseInstruction("fault", faultSchema, raw);
    const names = ["*", ...operations, ...elsewhere.keys()];
    if (!names.includes(fault.operation)) {
      const problem = `fault.operation: there is no "${fault.operation}". There are: ${names.join(", ")}`;
      throw new InstructionError("fault", [problem]);
    }
    this.#lastId += 1;
    this.#active.set(this.#lastId, { fault, passed: 0, struck: 0 });
    return this.#lastId;
  }

  remove(id: number): boolean {
    return this.#active.delete(id);
  }

  clear(): void {
    this.#active.clear();
  }

  /** The first fault that strikes this call; counts it. */
  strike(service: Service, operation: string, when: Fault["when"], facts: Facts): FaultOf<CallFaultKind> | undefined {
    const isHere = (fault: Fault): fault is FaultOf<CallFaultKind> =>
      fault.when === when && (fault.operation === operation || (fault.operation === "*" && service === "compliance"));
    return this.#strike(isHere, facts, service);
  }

  /** The first fault that strikes this submission to the authority; counts it. */
  strikeAuthority(facts: Facts): FaultOf<AuthorityFaultKind> | undefined {
    const isHere = (fault: Fault): fault is FaultOf<AuthorityFaultKind> => fault.operation === "authority";
    return this.#strike(isHere, facts, "authority");
  }

  /** The first of these faults that strikes this callback; counts it. */
  strikeCallback<Kind extends CallbackFaultKind>(kinds: readonly Kind[], facts: Facts): FaultOf<Kind> | undefined {
    const isHere = (fault: Fault): fault is FaultOf<Kind> =>
      fault.operation === "callback" && kinds.some((kind) => kind === fault.kind);
    return this.#strike(isHere, facts, "callback");
  }

  books(): FaultBooks {
    return {
      byKind: Object.fromEntries(this.#byKind),
      active: [...this.#active].map(([id, { fault, struck }]) => ({ ...fault, id, struck })),
    };
  }

  resetCounts(): void {
    this.#byKind.clear();
  }

  #strike<F extends Fault>(isHere: (fault: Fault) => fault is F, facts: Facts, family: Family): F | undefined {
    for (const [id, active] of this.#active) {
      const { fault } = active;
      if (!isHere(fault) || !agrees(fault, facts)) continue;
      active.passed += 1;
      if (active.passed <= (fault.skip ?? 0)) continue;
      if (fault.probability !== undefined && this.#chance(family) >= fault.probability) continue;
      active.struck += 1;
      if (fault.times !== undefined && active.struck >= fault.times) this.#active.delete(id);
      this.#byKind.set(fault.kind, (this.#byKind.get(fault.kind) ?? 0) + 1);
      return fault;
    }
    return undefined;
  }

  #chance(family: Family): number {
    const chance = this.#chances.get(family) ?? seededRandom(this.#seed + FAMILIES.indexOf(family));
    this.#chances.set(family, chance);
    return chance();
  }
}

const FAMILIES = ["compliance", "authority", "callback", "accounting"] as const;
type Family = (typeof FAMILIES)[number];
export type Service = "compliance" | "accounting";

function agrees({ match = {} }: Fault, facts: Facts): boolean {
  return Object.entries(match).every(([name, value]) => facts[name] === value);
}
