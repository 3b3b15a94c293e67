import { defineQuery, proxyActivities, setHandler } from "@temporalio/workflow";

export interface BareSale {
  readonly invoice: string;
  /** Activities beyond the two that call the API; they do nothing. */
  readonly more: number;
}

export interface BareActivities {
  createSale(invoice: string): Promise<string>;
  adjustStock(invoice: string): Promise<string>;
  nothing(): Promise<void>;
}

const { createSale, adjustStock, nothing } = proxyActivities<BareActivities>({ startToCloseTimeout: "1 minute" });

/** The API calls of a sale that is accepted at once, without anything that makes them safe. */
export async function bareSale({ invoice, more }: BareSale): Promise<string> {
  let stage = "submitting";
  setHandler(defineQuery("state"), () => stage);
  for (let n = 0; n < more; n += 1) await nothing();
  const saleId = await createSale(invoice);
  stage = "adjusting-stock";
  await adjustStock(invoice);
  return saleId;
}
