import { DEFAULT_CONNECTION, ITEM_OUTCOMES } from "../../../contract/index.ts";
import type {
  BusinessReport,
  KeptBatch,
  KeptBillPayment,
  KeptItemOutcome,
  KeptPurchase,
} from "../../../ledger/index.ts";
import type { Simulator } from "../../simulator/index.ts";
import type { DemoStack } from "../start-demo-stack.ts";

/** What the two services know, as the simulator's own books say. */
export interface ServiceBooks {
  readonly documents: ReturnType<Simulator["documents"]>;
  readonly items: ReturnType<Simulator["items"]>;
  readonly purchases: ReturnType<Simulator["purchases"]>;
  readonly billPayments: ReturnType<Simulator["accounting"]["billPayments"]>;
  readonly syncBatches: ReturnType<Simulator["accounting"]["syncBatches"]>;
}

/** What the product has kept of it. */
export interface LedgerContents {
  readonly report: BusinessReport | undefined;
  readonly items: readonly KeptItemOutcome[];
  readonly purchases: readonly KeptPurchase[];
  readonly billPayments: readonly KeptBillPayment[];
  readonly syncBatches: readonly KeptBatch[];
}

export function readServiceBooks({ plan, simulator }: Pick<DemoStack, "plan" | "simulator">): ServiceBooks {
  return {
    documents: simulator.documents(),
    items: simulator.items(plan.businessId),
    purchases: simulator.purchases(),
    billPayments: simulator.accounting.billPayments(),
    syncBatches: simulator.accounting.syncBatches(),
  };
}

/** Far more than a demo has. */
const ALL = 10_000;

/** @throws LedgerUnavailableError */
export async function readLedgerContents(
  { plan, ledger }: Pick<DemoStack, "plan" | "ledger">,
  report: BusinessReport | undefined,
): Promise<LedgerContents> {
  const connection = DEFAULT_CONNECTION;
  const business = { connection, businessId: plan.businessId };
  const batches = await Promise.all(
    plan.scenario.accounting.syncBatches.map(({ id }) => ledger.syncBatches.read({ connection, syncBatchId: id })),
  );
  return {
    report,
    items: await ledger.items.page(business, { kinds: ITEM_OUTCOMES, most: ALL }),
    purchases: await ledger.purchases.page(business, { most: ALL }),
    billPayments: await ledger.billPayments.page(connection, { most: ALL }),
    syncBatches: batches.flatMap((batch) => (batch === undefined ? [] : [batch])),
  };
}
