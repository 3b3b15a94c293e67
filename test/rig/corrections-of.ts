import { expect } from "vitest";

import type { CorrectionRequest, SaleInput } from "../../src/contract/index.ts";
import type { Correction } from "../../src/starter/index.ts";
import { salesOf, TEA } from "./sales-of.ts";
import type { Rig } from "./start-rig.ts";

const WAIT = { waitSeconds: 20 };

/**
 * What suites do with corrections: of `NAME` by `NAME-NEW`, with the credit note `CN-NAME`.
 * @param rig asked when it is needed: a suite's helpers are there before its rig
 */
export function correctionsOf(rig: () => Rig) {
  const { sold, result, movementsOf } = salesOf(rig);

  /** Three packets in place of two, closed at once. */
  function request(name: string, more: Partial<SaleInput> = {}): CorrectionRequest {
    const lines = [{ ...TEA, quantity: 3 }];
    const sale = { traderInvoiceNumber: `${name}-NEW`, lines, refundWindow: "0", ...more };
    return { reason: "06", creditNote: `CN-${name}`, sale };
  }

  return {
    request,
    /** A sale of two packets of tea that is signed, and has taken them. */
    sold: async (traderInvoiceNumber: string, more: Partial<SaleInput> = {}): Promise<void> => {
      await sold(traderInvoiceNumber, more);
      if (more.refundWindow === "0") await result(traderInvoiceNumber);
    },
    correct: (name: string, asked = request(name), wait = WAIT): Promise<Correction> =>
      rig().starter.correct({ invoice: name }, asked, wait),
    idOf: (invoice: string): string => rig().starter.correctionWorkflowId({ invoice }),
    /** The correction, once it is as wanted. */
    when: async (invoice: string, wanted: (correction: Correction) => boolean): Promise<Correction> => {
      let seen: Correction | undefined;
      await expect
        .poll(async () => {
          seen = await rig().starter.correction({ invoice });
          return seen !== undefined && wanted(seen);
        })
        .toBe(true);
      if (!seen) throw new Error(`${invoice} has no correction`);
      return seen;
    },
    /** The simulator's books: the documents of both numbers and of the credit note. */
    documentsOf: (name: string) => {
      const own = [name, `${name}-NEW`, `CN-${name}`];
      const found = rig()
        .simulator.documents()
        .filter(({ traderInvoiceNumber }) => own.includes(traderInvoiceNumber));
      return found.map(({ type, status, traderInvoiceNumber, totals }) => [
        type,
        status,
        traderInvoiceNumber,
        totals.total,
      ]);
    },
    /** As they are where a correction was carried out once. */
    both: (name: string) => [
      ["sale", "completed", name, 700],
      ["credit_note", "completed", `CN-${name}`, -700],
      ["sale", "completed", `${name}-NEW`, 1050],
    ],
    /** What the simulator has moved for it, in order: [action, quantity]. */
    movedFor: (name: string) =>
      [name, `CN-${name}`, `${name}-NEW`].flatMap((number) =>
        movementsOf(number).map(({ action, quantity }) => [action, Math.abs(quantity)]),
      ),
    settled: async (name: string): Promise<void> => {
      await result(name);
      await result(`${name}-NEW`);
    },
  };
}
