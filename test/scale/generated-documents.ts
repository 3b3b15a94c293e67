import {
  ComplianceApiError,
  type ComplianceClient,
  composeCreateSale,
  composeCreditNote,
  parseDialect,
} from "../../src/compliance/index.ts";
import type { SaleDocument } from "../../src/contract/index.ts";
import { type Simulator } from "../../src/dev/simulator/index.ts";

const DIALECT = parseDialect({});
const ITEMS = ["item_tea", "item_flour", "item_gas", "item_delivery"];
const PAYMENTS = ["01", "02", "06", undefined];
const BUYERS = [{ name: "Wanjiku", pin: "P051234567Z" }, { name: "Otieno" }, undefined];

/** One document to be made: with the same seed the same ones. */
interface Drawn {
  number: string;
  date: string;
  paymentTypeCode: string | undefined;
  customer: { name: string; pin?: string } | undefined;
  lines: { itemId: string; quantity: number; unitPrice: number }[];
  fate: "accept" | "reject" | "down";
  /** The date of the credit note that reverses it. */
  creditedOn: string | undefined;
}

/**
 * Makes sales and credit notes over HTTP: a month of them, from one to five lines, quantities of three places, some
 * refused, some in flight.
 * @returns every document as the service last answered it
 */
export async function* generatedDocuments(
  { client, simulator }: { client: ComplianceClient; simulator: Simulator },
  random: () => number,
  count: number,
): AsyncGenerator<SaleDocument> {
  for (let made = 0; made < count;) {
    const drawn = draw(random, made);
    if (drawn.fate === "reject") simulator.setAuthority(drawn.number, [{ do: "reject", reason: "no" }]);
    if (drawn.fate === "down") simulator.setAuthority(drawn.number, [{ do: "down" }]);
    const sale = await issue(client, drawn);
    made += 1;
    yield sale;
    if (drawn.creditedOn === undefined || sale.status !== "completed" || made >= count) continue;
    const number = `CN-${drawn.number}`;
    const note = { traderInvoiceNumber: number, returnDate: drawn.creditedOn, saleId: sale.id, reason: "06" } as const;
    const composed = composeCreditNote(DIALECT, "organisation", { businessId: "biz_1", ...note });
    made += 1;
    yield (await client.createCreditNote(composed, { idempotencyKey: `credit-note:${number}` })).data;
  }
}

function draw(random: () => number, n: number): Drawn {
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const day = (): string => `2026-11-${String(1 + Math.floor(random() * 30)).padStart(2, "0")}`;
  const lines = Array.from({ length: 1 + Math.floor(random() * 5) }, () => ({
    itemId: pick(ITEMS) ?? "item_tea",
    quantity: random() < 0.6 ? 1 + Math.floor(random() * 40) : Math.ceil(random() * 25_000) / 1_000,
    unitPrice: Math.ceil(random() * 9_999_999) / 100,
  }));
  const chance = random();
  return {
    number: `GEN-${n}`,
    date: day(),
    paymentTypeCode: pick(PAYMENTS),
    customer: BUYERS[n % BUYERS.length],
    lines,
    fate: chance < 0.02 ? "reject" : chance < 0.04 ? "down" : "accept",
    creditedOn: random() < 0.2 ? day() : undefined,
  };
}

async function issue(client: ComplianceClient, drawn: Drawn): Promise<SaleDocument> {
  const { number, date, paymentTypeCode, customer, lines } = drawn;
  const composed = composeCreateSale(DIALECT, "organisation", {
    businessId: "biz_1",
    traderInvoiceNumber: number,
    saleDate: date,
    paymentTypeCode,
    customer,
    lines,
  });
  try {
    return (await client.createSale(composed, { idempotencyKey: `sale:${number}` })).data;
  } catch (error) {
    const saleId = error instanceof ComplianceApiError ? error.extras.sale?.id : undefined;
    if (saleId === undefined) throw error;
    return (await client.getSale(saleId, { businessId: "biz_1" })).data;
  }
}
