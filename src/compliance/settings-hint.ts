import type { OperationName } from "./operations.ts";

/** The settings whose names, places or paths a request of the operation uses: what the document does not show of it. */
const USED: Readonly<Partial<Record<OperationName, readonly string[]>>> = {
  createSale: [
    "createSale.path",
    "createSale.businessIdIn",
    "createSale.fields.*",
    "createSale.lineFields.*",
    "createSale.customerFields.*",
    "createSale.branchBy",
  ],
  createCreditNote: ["creditNote.businessIdIn"],
  retrySale: ["retry.businessIdIn"],
  adjustStock: ["stock.businessIdIn", "stock.branch", "stock.branchBy"],
  registerItem: ["register.branch", "register.branchBy", "register.force"],
  listPurchases: ["purchases.cursor", "purchases.pageSize", "purchases.status", "purchases.from", "purchases.to"],
  pullPurchases: ["pull.path", "pull.businessIdIn"],
  createItem: ["createItem"],
  receiptDownload: ["receiptDownload"],
  identity: ["identity"],
  lookups: ["lookups"],
};

/**
 * What to tell an operator if the service refuses a request as malformed, or does not find what it asks for: the
 * settings that can be meant. Which one it is, the service's message may say; nothing reads that (Fiscal Compliance API,
 * "Errors"). Empty if the document shows all of the request.
 *
 * @param more settings that this refusal depends on
 */
export function settingsHint(operation: OperationName, more: readonly string[] = []): string {
  const settings = [...more, ...(USED[operation] ?? [])];
  const [last = "", ...others] = settings.toReversed();
  if (last === "") return "";
  const list = others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`;
  return ` The API's document does not show every name of this request: if it uses another one, set ${list} in COMPLIANCE_DIALECT.`;
}
