import type { Client } from "@temporalio/client";
import { setTimeout as delay } from "node:timers/promises";

import { SEARCH_ATTRIBUTES } from "../../src/contract/index.ts";
import { createStarter } from "../../src/starter/index.ts";
import type { Shop } from "./shops.ts";

export interface Sold {
  readonly shop: Shop;
  readonly invoice: string;
  readonly workflowId: string;
  /** From the start to the receipt, or until the till gave up. */
  readonly seconds: number;
  readonly hasReceipt: boolean;
}

/** A till's patience. */
const WAIT_SECONDS = 20;

export class Tills {
  readonly #client: Client;
  readonly #starter: ReturnType<typeof createStarter>;
  #sales = 0;

  constructor(client: Client, shops: readonly Shop[]) {
    this.#client = client;
    const businesses = Object.fromEntries(shops.map(({ name, businessId }) => [name, businessId]));
    this.#starter = createStarter({ client, businesses, identity: "bench" });
  }

  /**
   * A sale every so often, of one shop after the other, however long the ones before take.
   * @returns each sale, which resolves with its receipt or once its till has given up
   */
  async sellSteadily(shops: readonly Shop[], perSecond: number, seconds: number): Promise<Promise<Sold>[]> {
    const startedMs = performance.now();
    const sales: Promise<Sold>[] = [];
    const count = Math.round(perSecond * seconds);
    for (let n = 0; n < count; n += 1) {
      await delay(Math.max(0, startedMs + (n * 1_000) / perSecond - performance.now()));
      const shop = shops[n % shops.length];
      if (!shop) break;
      const sale = this.#sell(shop);
      // A caller that waits for it hears of a failure; nobody has to at once.
      sale.catch(() => undefined);
      sales.push(sale);
    }
    return sales;
  }

  async #sell(shop: Shop): Promise<Sold> {
    const invoice = `TENANTS-${(this.#sales += 1)}`;
    const begunMs = performance.now();
    const { workflowId, outcome } = await this.#starter.startSaleAndWait(
      {
        connection: shop.name,
        traderInvoiceNumber: invoice,
        lines: [{ itemId: shop.itemId, quantity: 1, unitPrice: 350 }],
        refundWindow: "0",
      },
      { waitSeconds: WAIT_SECONDS },
    );
    const seconds = (performance.now() - begunMs) / 1_000;
    return { shop, invoice, workflowId, seconds, hasReceipt: outcome.receipt !== null };
  }

  /** Resolves once its workflow has ended. */
  async ended({ workflowId }: Sold): Promise<void> {
    await this.#client.workflow.getHandle(workflowId).result();
  }

  /** Whether it ever showed an operator anything, also for a moment. */
  async wasParked({ workflowId }: Sold): Promise<boolean> {
    const { events } = await this.#client.workflow.getHandle(workflowId).fetchHistory();
    return (events ?? []).some((event) => {
      const { searchAttributes } = event.upsertWorkflowSearchAttributesEventAttributes ?? {};
      const shown = searchAttributes?.indexedFields?.[SEARCH_ATTRIBUTES.attention]?.data;
      return shown !== undefined && shown !== null && !["", "[]", "null"].includes(Buffer.from(shown).toString());
    });
  }
}
