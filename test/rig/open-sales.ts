import { expect } from "vitest";

import type { Rig } from "./start-rig.ts";
import { salesOf } from "./sales-of.ts";

/** A way in which a sale can be open, and what an operator does about it then; without that it goes on by itself. */
export interface OpenWay {
  open: (invoice: string) => Promise<unknown>;
  mend?: (invoice: string) => Promise<unknown>;
  /** What the service has of it in the end. */
  ends: { stage: "completed" | "credited"; taken: number; given: number };
}

export interface OpenSale extends OpenWay {
  invoice: string;
  way: string;
}

/** Sales, as many in each way. @param rig asked when it is needed: a suite's helpers are there before its rig */
export function openSales(rig: () => Rig, prefix: string, count: number): OpenSale[] {
  const ways = Object.entries(waysToBeOpen(rig));
  return Array.from({ length: count }, (_, n) => {
    const [way, what] = ways[n % ways.length] as (typeof ways)[number];
    return { ...what, way, invoice: `${prefix}-${n}` };
  });
}

/** Some at once: each asks for its state again and again, in the process that may be the worker too. */
const AT_ONCE = 5;

/** @throws what fails, with the sale that it was about */
export async function each(sales: readonly OpenSale[], work: (sale: OpenSale) => Promise<unknown>): Promise<void> {
  const left = sales.values();
  const lane = async (): Promise<void> => {
    for (const sale of left)
      await work(sale).catch((error: unknown) => {
        throw new Error(`${sale.invoice} (${sale.way}): ${String(error)}`, { cause: error });
      });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** The authority signs again, an operator does what each waits for, and each ends as its way does. */
export async function finish(rig: Rig, sales: readonly OpenSale[]): Promise<void> {
  for (const { invoice } of sales) rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
  await each(sales, async ({ invoice, mend, ends }) => {
    await mend?.(invoice);
    await rig.stateWhen(invoice, ({ stage }) => stage === ends.stage);
  });
}

/** What the service has of each is what its way ends with: nothing twice, nothing lost. */
export async function expectEachOnce(rig: Rig, sales: readonly OpenSale[]): Promise<void> {
  const { movementsOf, creditNotesOf } = salesOf(() => rig);
  for (const { invoice, ends, way } of sales) {
    const label = `${invoice} (${way})`;
    expect(rig.simulator.documents(invoice), label).toMatchObject([{ status: "completed" }]);
    const notes = creditNotesOf(rig.simulator.documents(invoice)[0]?.id);
    expect(notes, label).toHaveLength(ends.stage === "credited" ? 1 : 0);
    const moved = () => ({ taken: movementsOf(invoice).length, given: movementsOf(`CN-${invoice}`).length });
    await rig.simulator.until(() => moved().taken >= ends.taken && moved().given >= ends.given);
    expect({ ...ends, ...moved() }, label).toEqual(ends);
  }
}

function waysToBeOpen(rig: () => Rig): Record<string, OpenWay> {
  const { start, sold, parked, handleOf } = salesOf(rig);
  const completed = { stage: "completed", taken: 1, given: 0 } as const;
  return {
    "in flight": {
      open: async (invoice) => {
        rig().simulator.setAuthority(invoice, [{ do: "down" }]);
        await start(invoice);
        await rig().stateWhen(
          invoice,
          ({ stage, stockMovements: [moved] }) => stage === "awaiting-authority" && moved?.state === "applied",
        );
      },
      ends: completed,
    },
    "without moving stock": {
      open: async (invoice) => {
        rig().simulator.setAuthority(invoice, [{ do: "down" }]);
        await start(invoice, { stock: "off" });
        await rig().stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
      },
      ends: { ...completed, taken: 0 },
    },
    rejected: {
      open: async (invoice) => {
        rig().simulator.setAuthority(invoice, [{ do: "reject", reason: "no" }]);
        await start(invoice);
        await parked(invoice, "rejected");
      },
      mend: async (invoice) => {
        await parked(invoice, "rejected");
        await rig().starter.retry({ invoice });
      },
      ends: completed,
    },
    "an unknown item": {
      open: async (invoice) => {
        await start(invoice, { lines: [{ sku: `SKU-${invoice}`, quantity: 1, unitPrice: 90 }] });
        await parked(invoice, "item-unknown");
      },
      mend: async (invoice) => {
        // The sale sees it by itself.
        await parked(invoice, "item-unknown");
        rig().simulator.addItem({
          id: `item-${invoice}`,
          businessId: "biz_1",
          name: invoice,
          sku: `SKU-${invoice}`,
          unitPrice: 90,
          registrationStatus: "REGISTERED",
        });
      },
      ends: completed,
    },
    "a movement without an answer": {
      open: async (invoice) => {
        const match = { referenceId: `${invoice}/item_tea/sold` };
        rig().simulator.inject({ operation: "adjustStock", when: "after", kind: "drop", times: 1, match });
        await start(invoice);
        await parked(invoice, "stock-unknown");
      },
      mend: async (invoice) => {
        await parked(invoice, "stock-unknown");
        const referenceId = `${invoice}/item_tea/sold`;
        await rig().starter.resolveStock({ invoice }, { referenceId, applied: true, note: "seen in the journal" });
      },
      ends: completed,
    },
    "a credit note in flight": {
      open: async (invoice) => {
        await sold(invoice);
        await beginRefund(rig(), invoice);
      },
      mend: async (invoice) => rig().simulator.setAuthority(`CN-${invoice}`, [{ do: "accept" }]),
      ends: { stage: "credited", taken: 1, given: 1 },
    },
    "a refund of a sale that was closed": {
      open: async (invoice) => {
        await start(invoice);
        await handleOf(invoice).result();
        await beginRefund(rig(), invoice);
      },
      mend: async (invoice) => rig().simulator.setAuthority(`CN-${invoice}`, [{ do: "accept" }]),
      ends: { stage: "credited", taken: 1, given: 1 },
    },
  };
}

/** Asks for a credit note, which the authority does not sign yet. */
async function beginRefund(rig: Rig, invoice: string): Promise<void> {
  const { simulator, starter } = rig;
  simulator.setAuthority(`CN-${invoice}`, [{ do: "down" }]);
  const refund = { reason: "06", traderInvoiceNumber: `CN-${invoice}`, restock: true } as const;
  await starter.refund({ invoice }, refund);
  await simulator.until(() => simulator.documents(`CN-${invoice}`).length > 0);
  await rig.stateWhen(invoice, ({ stage }) => stage === "crediting");
}
