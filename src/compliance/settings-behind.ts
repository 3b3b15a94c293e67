import type { ComplianceDialect } from "./dialect.ts";
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

/** A field as messages write one: `lines[0].qty`, `customer.kra_pin`, `branchId`. */
const FIELD = /[A-Za-z_][\w-]*(?:\[\d*\])?(?:\.[A-Za-z_][\w-]*(?:\[\d*\])?)*/g;

/**
 * The settings that can be meant where the service refuses a request as malformed, or does not find what it asks for.
 * Where the message names a field that was sent under a name of the dialect it is that field's setting, else all that
 * the request uses. Messages are for people and their wording can change (Fiscal Compliance API, "Errors"): nothing but
 * a hint comes of it.
 */
export function settingsBehind(operation: OperationName, apiMessage: string, dialect: ComplianceDialect): string[] {
  const used = USED[operation] ?? [];
  const fields = apiMessage.match(FIELD) ?? [];
  const named = new Set(fields.flatMap((field) => settingsNamed(operation, field, dialect)));
  return named.size > 0 ? [...named] : [...used];
}

function settingsNamed(operation: OperationName, field: string, dialect: ComplianceDialect): string[] {
  const [first = "", second] = field.split(".").map((part) => part.replace(/\[\d*\]$/, ""));
  const within = (path: string, names: Readonly<Record<string, string | null>>, name: string): string[] =>
    Object.entries(names).flatMap(([setting, sentAs]) => (sentAs === name ? [`${path}.${setting}`] : []));
  const used = USED[operation] ?? [];
  if (first === "businessId") return used.filter((setting) => setting.endsWith(".businessIdIn"));
  switch (operation) {
    case "createSale": {
      const { fields, lineFields, customerFields } = dialect.createSale;
      const isLine = first === fields.lines;
      if (second === undefined || (!isLine && first !== fields.customer)) {
        const settings = within("createSale.fields", fields, first);
        return settings.includes("createSale.fields.branch") ? [...settings, "createSale.branchBy"] : settings;
      }
      // A field that the service misses has the service's own name, so that it may be any of them.
      if (!isLine)
        return orAll(within("createSale.customerFields", customerFields, second), "createSale.customerFields.*");
      return orAll(within("createSale.lineFields", lineFields, second), "createSale.lineFields.*");
    }
    case "adjustStock":
      return first === dialect.stock.branch ? ["stock.branch", "stock.branchBy"] : [];
    case "registerItem": {
      const { branch, force } = dialect.register;
      if (first === branch) return ["register.branch", "register.branchBy"];
      return first === force ? ["register.force"] : [];
    }
    case "listPurchases":
      return within("purchases", dialect.purchases, first);
    default:
      return [];
  }
}

function orAll(named: string[], all: string): string[] {
  return named.length > 0 ? named : [all];
}

/** The sentence for an operator; empty where the document shows all of the request. */
export function settingsHint(settings: readonly string[]): string {
  if (settings.length === 0) return "";
  const [last = "", ...others] = settings.toReversed();
  const list = others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`;
  return ` The API's document does not show every name of this request: if it uses another one, set ${list} in COMPLIANCE_DIALECT.`;
}
