import { createCallbackReceiver, createTemporalSignaller } from "../../src/callbacks/index.ts";
import type { SaleInput } from "../../src/contract/index.ts";
import type { NewItem, ScenarioInput } from "../../src/dev/simulator/index.ts";
import { createStarter } from "../../src/starter/index.ts";
import { ProductFleet } from "../stack/product-fleet.ts";
import type { BenchStack } from "../stack/start-stack.ts";
import { BUSINESSES, type Goods, lineOf, type Till, WARM } from "./case.ts";

const KEY = "cmp_sk_test_bench_calls";
const CALLBACK_SECRET = "a secret of the benchmark that is long enough to be one";
const SILENT = { debug() {}, warn() {} };

/** A poll comes well after the decision: a case counts calls, and not how long somebody waits. */
const TIMINGS = {
  FISCALFLOW_TIMING_FIRST_POLL_MS: "1500",
  FISCALFLOW_TIMING_FIRST_POLL_WITH_CALLBACK_MS: "4000",
  FISCALFLOW_TIMING_RESUBMISSION_WINDOW_MS: "3000",
};

const GOODS: readonly (Partial<NewItem> & { name: Goods })[] = [
  { name: "tea" },
  { name: "flour" },
  { name: "delivery", stockTracked: false },
  { name: "soap", registrationStatus: "PENDING" },
];

export const SHOP_SCENARIO: ScenarioInput = {
  applications: [{ name: "shop", keys: [{ key: KEY }] }],
  businesses: BUSINESSES.map((id) => ({
    id,
    name: `Duka ${id}`,
    branches: [{ id: `${id}_branch`, authorityBhfId: "00" }],
  })),
  items: BUSINESSES.flatMap((businessId) =>
    GOODS.map((goods) => ({ ...goods, id: `${businessId}_${goods.name}`, businessId, unitPrice: 350 })),
  ),
};

/** One process of the product, a receiver of callbacks and a till, on a stack of that scenario. */
export async function openShop(stack: BenchStack, onLost: (error: Error) => void): Promise<Till> {
  const { client, simulator, folder } = stack;
  const receiver = createCallbackReceiver({
    secrets: [CALLBACK_SECRET],
    client: createTemporalSignaller(client),
    log: SILENT,
  });
  const receiverUrl = await receiver.listen({ host: "127.0.0.1", port: 0 });
  stack.onClose(() => receiver.close());
  const callbacks = {
    CALLBACK_PUBLIC_URL: receiverUrl,
    CALLBACK_SECRETS: CALLBACK_SECRET,
    CALLBACK_ALLOW_LOOPBACK: "1",
  };
  const fleet = await ProductFleet.start(
    {
      folder,
      processes: 1,
      serviceUrl: simulator.url,
      connections: [{ name: "default", application: "shop", apiKey: KEY }],
      env: { ...stack.env, ...callbacks, ...TIMINGS },
    },
    onLost,
  );
  stack.onClose(() => fleet.stop());
  const starter = createStarter({ client, businesses: { default: WARM }, identity: "bench" });
  const start = (traderInvoiceNumber: string, more: Partial<SaleInput>) =>
    starter.startSale({ businessId: WARM, traderInvoiceNumber, lines: [lineOf("tea")], ...more });
  return {
    simulator,
    client,
    starter,
    async sell(invoice, more = {}) {
      const { workflowId } = await start(invoice, { refundWindow: "0", ...more });
      await client.workflow.getHandle(workflowId).result();
    },
    async sellTogether(invoices, more) {
      const started = await Promise.all(invoices.map((invoice) => start(invoice, { refundWindow: "0", ...more })));
      // One after the other: a thousand long polls at once are more than a server answers in time.
      for (const { workflowId } of started) await client.workflow.getHandle(workflowId).result();
    },
    async sellOpen(invoice) {
      await starter.startSaleAndWait(
        { businessId: WARM, traderInvoiceNumber: invoice, lines: [lineOf("tea")] },
        { waitSeconds: 20 },
      );
      await simulator.until(() =>
        simulator
          .calls({ operation: "adjustStock" })
          .some((call) => call.referenceId?.startsWith(`${invoice}/`) === true && call.status === 201),
      );
    },
  };
}
