import { z } from "zod";
import type { Fault } from "./fault-schema.ts";
import { InstructionError } from "./problems.ts";

interface Trigger {
  /** One line: what happens, and what comes of it. */
  readonly help: string;
  readonly fault: Pick<Fault, "operation" | "when" | "kind" | "status" | "body" | "delayMs">;
  /** What it strikes: one, and several. */
  readonly strikes: readonly [one: string, several: string];
  /** How often, where nobody says; null: until it is ended. */
  readonly times: number | null;
  /** Whether it can be narrowed to a document's number. */
  readonly byInvoice: boolean;
  /** What stays as it is when it is ended. */
  readonly afterwards?: string;
}

const refusal = (code: string, message: string): { error: { code: string; message: string } } => ({
  error: { code, message },
});

/** Trouble to ask for by the name that an operator knows it by: an attention code, or what is broken. */
export const TRIGGERS: Readonly<Record<string, Trigger>> = {
  rejected: {
    help: "the tax authority rejects a document, and its three automatic resubmissions: the sale needs an operator. Sales at the same time share them: name one by --invoice",
    fault: { operation: "authority", when: "before", kind: "rejected" },
    strikes: ["submission to the authority", "submissions to the authority"],
    times: 4,
    byInvoice: true,
  },
  "authority-slow": {
    help: "documents stay in flight; after an hour the sale says `authority-slow`",
    fault: { operation: "authority", when: "before", kind: "in-flight" },
    strikes: ["submission to the authority", "submissions to the authority"],
    times: null,
    byInvoice: true,
    afterwards:
      "A document in flight stays so, also once this is ended. `fiscalflow sale show` shows it; once it says `authority-slow` (after an hour), `fiscalflow sale retry` submits it again, and not before.",
  },
  "answer-lost": {
    help: "a sale is created and the answer is lost: it is asked for again under the same Idempotency-Key",
    fault: { operation: "createSale", when: "after", kind: "drop" },
    strikes: ["creation of a sale", "creations of sales"],
    times: 1,
    byInvoice: true,
  },
  "stock-unknown": {
    help: "a stock movement is booked and the answer is lost: an operator says whether it was applied",
    fault: { operation: "adjustStock", when: "after", kind: "drop" },
    strikes: ["stock movement", "stock movements"],
    times: 1,
    byInvoice: false,
  },
  "stock-refused": {
    help: "the API refuses a stock movement: an operator sends it again, or books it by hand",
    fault: {
      operation: "adjustStock",
      when: "before",
      kind: "status",
      status: 422,
      body: refusal("unprocessable", "The simulator was told to refuse this stock movement"),
    },
    strikes: ["stock movement", "stock movements"],
    times: 1,
    byInvoice: false,
  },
  credentials: {
    help: "the Compliance API refuses every key: all sales say `credentials`, and go on once this is ended. The accounting service goes on",
    fault: {
      operation: "*",
      when: "before",
      kind: "status",
      status: 401,
      body: refusal("unauthorized", "The simulator was told to refuse every key"),
    },
    strikes: ["call", "calls"],
    times: null,
    byInvoice: false,
  },
  slow: {
    help: "every call takes three seconds more",
    fault: { operation: "*", when: "before", kind: "slow", delayMs: 3_000 },
    strikes: ["call", "calls"],
    times: null,
    byInvoice: false,
  },
  away: {
    help: "the Compliance API answers every call with 503: calls are retried; a stock movement under way becomes `stock-unknown`. The accounting service goes on",
    fault: { operation: "*", when: "before", kind: "status", status: 503 },
    strikes: ["call", "calls"],
    times: null,
    byInvoice: false,
  },
  "rate-limited": {
    help: "calls are answered with 429 until the window ends, as if others had used up the budget",
    fault: { operation: "*", when: "before", kind: "rate-limit" },
    strikes: ["call", "calls"],
    times: 5,
    byInvoice: false,
  },
  "callback-lost": {
    help: "a callback is never sent: a sale in flight is polled instead, and finishes a little later. A sale that is accepted at once needs no callback, and shows nothing",
    fault: { operation: "callback", when: "before", kind: "lost" },
    strikes: ["callback", "callbacks"],
    times: 1,
    byInvoice: true,
  },
  "callback-doubled": {
    help: "a callback is sent twice at the same time",
    fault: { operation: "callback", when: "before", kind: "doubled" },
    strikes: ["callback", "callbacks"],
    times: 1,
    byInvoice: true,
  },
  "callback-forged": {
    help: "a stranger calls back about a document in flight, with a false receipt",
    fault: { operation: "callback", when: "before", kind: "forged" },
    strikes: ["document in flight", "documents in flight"],
    times: 1,
    byInvoice: true,
  },
};

export const triggerOptionsSchema = z.strictObject({
  /** How often it strikes; without it as often as the trigger says. */
  times: z.number().int().positive().optional(),
  /** Only documents with this number. */
  invoice: z.string().min(1).optional(),
});

/** The fault that carries a trigger out. @throws InstructionError that names all triggers */
export function triggerFault(name: string, { times, invoice }: z.infer<typeof triggerOptionsSchema>): Fault {
  const trigger = Object.hasOwn(TRIGGERS, name) ? TRIGGERS[name] : undefined;
  if (trigger === undefined) {
    throw new InstructionError("trigger", [
      `there is no "${name}"; expected one of ${Object.keys(TRIGGERS).join(", ")}`,
    ]);
  }
  if (invoice !== undefined && !trigger.byInvoice) {
    const others = Object.keys(TRIGGERS).filter((one) => TRIGGERS[one]?.byInvoice === true);
    throw new InstructionError("trigger", [
      `"${name}" cannot be narrowed to an invoice: it strikes the next ${trigger.strikes[0]}. Those that can: ${others.join(", ")}`,
    ]);
  }
  const often = times ?? trigger.times ?? undefined;
  return {
    trigger: name,
    ...trigger.fault,
    ...(often !== undefined && { times: often }),
    ...(invoice !== undefined && { match: { invoice } }),
  };
}

/** What a fault does, in a sentence: "rejected: strikes the next 4 submissions to the authority of INV-1." */
export function triggerText({ trigger, times, match, operation, kind }: Fault): string {
  const known = trigger === undefined ? undefined : TRIGGERS[trigger];
  const other = operation === "*" ? "call" : `call of ${operation}`;
  const [one, several] = known?.strikes ?? [other, other.replace("call", "calls")];
  const which = times === undefined ? `every ${one}` : times === 1 ? `the next ${one}` : `the next ${times} ${several}`;
  const whose = match?.invoice === undefined ? "" : ` of ${match.invoice}`;
  const until = times === undefined ? ", until it is ended" : "";
  const afterwards = known?.afterwards === undefined ? "" : ` ${known.afterwards}`;
  return `${trigger ?? kind}: strikes ${which}${whose}${until}.${afterwards}`;
}
