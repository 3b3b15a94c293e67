import { expect } from "vitest";

import type { SaleInput } from "../../src/contract/index.ts";
import type { CorrectionRequest, KnownCorrection } from "../../src/starter/index.ts";
import { salesOf, TEA } from "./sales-of.ts";
import type { Rig } from "./start-rig.ts";

const WAIT = { waitSeconds: 20 };

/**
 * What suites do with corrections: of `NAME` by `NAME-NEW`, with the credit note `CN-NAME`.
 * @param rig asked when it is needed: a suite's helpers are there before its rig
 */
export function correctionsOf(rig: () => Rig) {
  const { sold, result, movementsOf, onHand } = salesOf(rig);

  /** Three packets in place of two, closed at once. */
  function request(name: string, more: Partial<CorrectionRequest["replaceWith"]> = {}): CorrectionRequest {
    const lines = [{ ...TEA, quantity: 3 }];
    const replaceWith = { traderInvoiceNumber: `${name}-NEW`, lines, refundWindow: "0", ...more };
    return { reason: "06", traderInvoiceNumber: `CN-${name}`, replaceWith };
  }

  const soldTo = async (traderInvoiceNumber: string, more: Partial<SaleInput> = {}): Promise<void> => {
    await sold(traderInvoiceNumber, more);
    if (more.refundWindow === "0") await result(traderInvoiceNumber);
  };
  const correct = (name: string, asked = request(name), wait = WAIT): Promise<KnownCorrection> =>
    rig().starter.correct({ invoice: name }, asked, wait);
  const begin = (name: string, asked?: CorrectionRequest): Promise<KnownCorrection> =>
    correct(name, asked, { waitSeconds: 0 });
  const when = async (invoice: string, wanted: (correction: KnownCorrection) => boolean): Promise<KnownCorrection> => {
    let seen: KnownCorrection | undefined;
    await expect
      .poll(async () => {
        seen = await rig().starter.correction({ invoice });
        return seen !== undefined && wanted(seen);
      })
      .toBe(true);
    if (!seen) throw new Error(`${invoice} has no correction`);
    return seen;
  };
  const documentsOf = (name: string) => {
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
  };
  const both = (name: string) => [
    ["sale", "completed", name, 700],
    ["credit_note", "completed", `CN-${name}`, -700],
    ["sale", "completed", `${name}-NEW`, 1050],
  ];
  const movedFor = (name: string) =>
    [name, `CN-${name}`, `${name}-NEW`].flatMap((number) =>
      movementsOf(number).map(({ action, quantity }) => [action, Math.abs(quantity)]),
    );
  const settled = async (name: string): Promise<void> => {
    await result(name);
    await result(`${name}-NEW`);
  };
  /** The books have each document and each movement once. @param before on hand */
  const isBookedOnce = (name: string, before: number): void => {
    expect(documentsOf(name)).toEqual(both(name));
    expect(movedFor(name)).toEqual([
      ["DEDUCT", 2],
      ["ADD", 2],
      ["DEDUCT", 3],
    ]);
    expect(onHand()).toBe(before - 3);
  };
  const attentionOf = async (name: string): Promise<KnownCorrection["attentions"][number] | undefined> =>
    (await when(name, ({ attentions }) => attentions.length > 0)).attentions[0];
  const documentIdOf = (number: string): string => rig().simulator.documents(number)[0]?.id ?? "";

  return {
    request,
    /** A sale of two packets of tea that is signed, and has taken them. */
    sold: soldTo,
    correct,
    /** {@link correct}, without waiting for what comes of it. */
    begin,
    documentIdOf,
    /** Its credit note waits for the authority; the sale is closed, unless it is said otherwise. */
    crediting: async (name: string, refundWindow = "0"): Promise<void> => {
      await soldTo(name, { refundWindow });
      rig().simulator.setAuthority(`CN-${name}`, [{ do: "down" }]);
      await begin(name);
      await rig().simulator.until(() => documentsOf(name).length === 2);
    },
    /** Accepted, while the API does not serve what it is checked by. Returns what serves it again. */
    preparing: async (name: string): Promise<() => void> => {
      const away = { operation: "registerItem", when: "before", kind: "status", status: 503 } as const;
      const serveAgain = rig().simulator.inject(away);
      const asked = request(name, { lines: [{ itemId: "item_new", quantity: 1, unitPrice: 1050 }] });
      void correct(name, asked).catch(() => undefined);
      await when(name, ({ stage }) => stage === "preparing");
      return serveAgain;
    },
    /** The correction, once it is as wanted. */
    when,
    /** What the sale needs an operator for, once it does. */
    attentionOf,
    /** The simulator's books: the documents of both numbers and of the credit note. */
    documentsOf,
    /** As they are where a correction was carried out once. */
    both,
    /** What the simulator has moved for it, in order: [action, quantity]. */
    movedFor,
    settled,
    isBookedOnce,
    /** It goes on to its end: one credit note, one corrected sale, and each movement once. @param before on hand */
    isCorrectedOnce: async (name: string, before: number): Promise<void> => {
      expect(await when(name, ({ stage }) => stage === "corrected")).toMatchObject({ attentions: [] });
      await settled(name);
      isBookedOnce(name, before);
    },
  };
}
