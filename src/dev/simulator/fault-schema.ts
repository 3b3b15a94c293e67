import { z } from "zod";

const apiKinds = ["status", "drop", "slow", "half-body", "not-json", "wrong-types", "rate-limit"] as const;
const authorityKinds = ["rejected", "in-flight", "cancelled"] as const;
const callbackKinds = ["lost", "early", "doubled", "out-of-order", "forged", "late"] as const;

export type ApiFaultKind = (typeof apiKinds)[number];
export type AuthorityFaultKind = (typeof authorityKinds)[number];
export type CallbackFaultKind = (typeof callbackKinds)[number];

/** The operation names under which a fault disturbs something else than a call to the API. */
const elsewhere: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["callback", callbackKinds],
  ["authority", authorityKinds],
]);
export const disturbedElsewhere: readonly string[] = [...elsewhere.keys()];

/**
 * A disturbance of authenticated calls. `before`: the operation is not processed. `after`: it is processed, and then
 * its answer is lost or replaced. A `slow` fault always processes: `before` late and answered at once, `after` at once
 * and answered late.
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
    /** An operation's name, `*` for all of the API, `authority` or `callback`. */
    operation: z.string().min(1),
    when: z.enum(["before", "after"]),
    kind: z.enum([...apiKinds, ...authorityKinds, ...callbackKinds]),
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
    /** How many matching calls it takes once chance has chosen one, as a storm of 429 does; default 1. */
    inARow: z.number().int().positive().optional(),
    match: z
      .strictObject({
        invoice: z.string().optional(),
        saleId: z.string().optional(),
        itemId: z.string().optional(),
        referenceId: z.string().optional(),
        businessId: z.string().optional(),
        idempotencyKey: z.string().optional(),
        /** Of the accounting service. */
        syncBatchId: z.string().optional(),
        page: z.string().optional(),
        status: z.string().optional(),
      })
      .optional(),
  })
  .superRefine(({ operation, when, kind }, context) => {
    const kinds: readonly string[] = elsewhere.get(operation) ?? apiKinds;
    if (!kinds.includes(kind))
      context.addIssue({ code: "custom", path: ["kind"], message: `of "${operation}" must be ${kinds.join(", ")}` });
    if (elsewhere.has(operation) && when !== "before")
      context.addIssue({ code: "custom", path: ["when"], message: `of "${operation}" must be before` });
  });

export type Fault = z.input<typeof faultSchema>;
export type FaultOf<Kind extends Fault["kind"]> = Fault & { kind: Kind };

export function isApiFault(fault: Fault): fault is FaultOf<ApiFaultKind> {
  return !elsewhere.has(fault.operation);
}

export function isAuthorityFault(fault: Fault): fault is FaultOf<AuthorityFaultKind> {
  return fault.operation === "authority";
}

export function isCallbackFault(fault: Fault): fault is FaultOf<CallbackFaultKind> {
  return fault.operation === "callback";
}
