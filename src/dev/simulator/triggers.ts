import type { Fault } from "./faults.ts";
import { InstructionError, known } from "./scenario.ts";

interface Trigger {
  /** What happens, and what comes of it. */
  readonly help: string;
  /** Without `times` until it is ended. */
  readonly fault: Omit<Fault, "trigger" | "match">;
}

const refusal = (status: number, code: string, message: string) => {
  return { kind: "status", status, body: { error: { code, message } } } as const;
};

/** Trouble to ask for by the name that an operator knows it by: an attention code, or what is broken. */
export const TRIGGERS: Readonly<Record<string, Trigger>> = {
  rejected: {
    help: "The tax authority rejects a document, and its three automatic resubmissions: the sale needs an operator. Sales at the same time share them: name one by --invoice.",
    fault: { operation: "authority", when: "before", kind: "rejected", times: 4 },
  },
  "authority-slow": {
    help: "Documents stay in flight, also once this is ended. `fiscalflow sale show` shows it; once it says `authority-slow` (after an hour), `fiscalflow sale retry` submits it again, and not before.",
    fault: { operation: "authority", when: "before", kind: "in-flight" },
  },
  "answer-lost": {
    help: "A sale is created and the answer is lost: it is asked for again under the same Idempotency-Key.",
    fault: { operation: "createSale", when: "after", kind: "drop", times: 1 },
  },
  "stock-unknown": {
    help: "A stock movement is booked and the answer is lost: an operator says whether it was applied.",
    fault: { operation: "adjustStock", when: "after", kind: "drop", times: 1 },
  },
  "stock-refused": {
    help: "The API refuses a stock movement: an operator sends it again, or books it by hand.",
    fault: {
      operation: "adjustStock",
      when: "before",
      ...refusal(422, "unprocessable", "The simulator was told to refuse this stock movement"),
      times: 1,
    },
  },
  credentials: {
    help: "The Compliance API refuses every key: all sales say `credentials`, and go on once this is ended. The accounting service goes on.",
    fault: {
      operation: "*",
      when: "before",
      ...refusal(401, "unauthorized", "The simulator was told to refuse every key"),
    },
  },
  slow: {
    help: "Every call takes three seconds more.",
    fault: { operation: "*", when: "before", kind: "slow", delayMs: 3_000 },
  },
  away: {
    help: "The Compliance API answers every call with 503: calls are retried; a stock movement under way becomes `stock-unknown`. The accounting service goes on.",
    fault: { operation: "*", when: "before", kind: "status", status: 503 },
  },
  "rate-limited": {
    help: "Calls are answered with 429 until the window ends, as if others had used up the budget.",
    fault: { operation: "*", when: "before", kind: "rate-limit", times: 5 },
  },
  "callback-lost": {
    help: "A callback is never sent: a sale in flight is polled instead, and finishes a little later. A sale that is accepted at once needs no callback, and shows nothing.",
    fault: { operation: "callback", when: "before", kind: "lost", times: 1 },
  },
};

/** Those that can be narrowed to a document's number. */
export const BY_INVOICE = ["rejected", "authority-slow", "answer-lost", "callback-lost"];

/** What a fault of an operation strikes, where it is not called a call. */
const STRUCK = new Map([
  ["authority", "submission to the authority"],
  ["createSale", "creation of a sale"],
  ["adjustStock", "stock movement"],
  ["callback", "callback"],
  ["*", "call"],
]);

export interface TriggerOptions {
  /** Only documents with this number. */
  invoice?: string;
}

/** The fault that carries a trigger out. @throws InstructionError for a name that is none */
export function triggerFault(name: string, { invoice }: TriggerOptions): Fault {
  const { fault } = known("trigger", new Map(Object.entries(TRIGGERS)), name);
  if (invoice !== undefined && !BY_INVOICE.includes(name)) {
    const problem = `"${name}" cannot be narrowed to an invoice. Those that can: ${BY_INVOICE.join(", ")}`;
    throw new InstructionError("trigger", [problem]);
  }
  return { trigger: name, ...fault, ...(invoice !== undefined && { match: { invoice } }) };
}

/** What a fault strikes, in a sentence: "rejected: strikes the next submission to the authority of INV-1, 4 times." */
export function triggerText({ trigger, times, match, operation, kind }: Fault): string {
  const what = STRUCK.get(operation) ?? `call of ${operation}`;
  const whose = match?.invoice === undefined ? "" : ` of ${match.invoice}`;
  const often = times === undefined ? ", until it is ended" : times === 1 ? "" : `, ${times} times`;
  return `${trigger ?? kind}: strikes ${times === undefined ? "every" : "the next"} ${what}${whose}${often}.`;
}
