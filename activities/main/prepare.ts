import { ApplicationFailure } from "@temporalio/common";

import {
  type ConnectionProfile,
  DEFAULT_CONNECTION,
  FAILURES,
  fingerprintOf,
  type MainActivities,
  nairobiDate,
  saleContent,
} from "../../src/contract/index.ts";
import {
  creditNoteInputSchema,
  durationMs,
  InvalidInputError,
  parseInput,
  saleInputSchema,
} from "../../src/contract/schema/index.ts";
import type { ComplianceRuntime } from "../compliance/runtime.ts";
import type { EarlierCreditNote, EarlierSale } from "./earlier.ts";

/** What a workflow may be told of a connection. */
export type Served = Pick<ComplianceRuntime, "profile" | "businessWeights">;

/**
 * The first activities of every workflow: the input through the same schema as the starter's, and its connection. What is wrong with
 * either fails the workflow once, with all problems in one text, so that nothing waits for ever on a queue that nobody serves.
 */
export function createPrepareActivities(
  connections: ReadonlyMap<string, Served>,
  earlierSale: EarlierSale,
  earlierCreditNote: EarlierCreditNote,
): Pick<MainActivities, "prepareSale" | "prepareCreditNote"> {
  return {
    async prepareSale({ input, startedAtMs, reset = false }) {
      const { content, ...prepared } = failOnInvalidInput(() => {
        const sale = parseInput(saleInputSchema, input, "sale input");
        const profile = profileFor(connections, sale, "sale input");
        const { lines: _lines, ...rest } = sale;
        const window = sale.refundWindow;
        const content = saleContent(sale, profile.businessId);
        return {
          profile,
          sale: { ...rest, saleDate: sale.saleDate ?? nairobiDate(startedAtMs) },
          content,
          fingerprint: fingerprintOf(content),
          refundWindowMs: (window === undefined ? undefined : durationMs(window)) ?? profile.timings.refundWindowMs,
        };
      });
      const finished = reset ? undefined : await earlierSale(prepared.profile, content);
      return { ...prepared, ...(finished && { finished }) };
    },

    async prepareCreditNote({ input, startedAtMs, reset = false }) {
      const prepared = failOnInvalidInput(() => {
        const note = parseInput(creditNoteInputSchema, input, "credit note input");
        const profile = profileFor(connections, note, "credit note input");
        const dated = { ...note, returnDate: note.returnDate ?? nairobiDate(startedAtMs) };
        return { profile, note: dated };
      });
      if (!reset) await earlierCreditNote(prepared.profile, prepared.note);
      return prepared;
    },
  };
}

/** The connection that the input names, acting for the business that the input names, where it may. */
export function profileFor(
  connections: ReadonlyMap<string, Served>,
  input: { connection?: string | undefined; businessId?: string | undefined },
  what: string,
): ConnectionProfile {
  const name = input.connection ?? DEFAULT_CONNECTION;
  const served = connections.get(name);
  if (!served) {
    const known = [...connections.keys()].map((one) => `"${one}"`).join(", ") || "none";
    throw new InvalidInputError(what, [`connection: expected a configured connection (${known}), found "${name}"`]);
  }
  const { profile, businessWeights } = served;
  const businessId = input.businessId ?? profile.businessId;
  if (profile.keyReach === "organisation" && businessId === undefined) {
    const expected = `expected a business, since the key of connection "${name}" is organisation-wide and has no default`;
    throw new InvalidInputError(what, [`businessId: ${expected}, found nothing`]);
  }
  if (profile.keyReach === "business" && businessId !== profile.businessId) {
    const expected = `expected "${profile.businessId ?? "nothing"}", to which the key of connection "${name}" is bound`;
    throw new InvalidInputError(what, [`businessId: ${expected}, found "${businessId ?? ""}"`]);
  }
  if (businessId === undefined) return profile;
  const businessWeight = businessWeights[businessId];
  return { ...profile, businessId, ...(businessWeight !== undefined && { businessWeight }) };
}

export function failOnInvalidInput<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof InvalidInputError) throw ApplicationFailure.nonRetryable(error.message, FAILURES.invalidInput);
    throw error;
  }
}
