/** The six scopes that the document names ("Authentication", 4). */
export type Scope = "sales:read" | "sales:write" | "stock:write" | "catalog:read" | "catalog:write" | "purchases:read";

/**
 * - `read`: may be repeated freely
 * - `keyedWrite`: safe to repeat under its Idempotency-Key
 * - `convergingWrite`: look before repeating
 * - `unrepeatableWrite`: at most once, on a fresh connection
 */
export type RiskClass = "read" | "keyedWrite" | "convergingWrite" | "unrepeatableWrite";

export interface Operation {
  name: OperationName;
  method: "GET" | "POST";
  /**
   * As the document writes it; `{id}` is replaced. Where the document only names the operation, the dialect's path
   * counts.
   */
  path: string;
  /** The scope that the operation needs. `stated: false`: the likely one, the document does not show it. */
  scope: { name: Scope; stated: boolean } | null;
  riskClass: RiskClass;
  /** The statuses of success; `whenReplayed` only together with `Idempotent-Replayed: true`. */
  expects: { statuses: readonly number[] | "2xx"; whenReplayed?: readonly number[] };
  /** The settings whose names, places or paths its request uses: what the document does not show of it. */
  settings: readonly string[];
}

const stated = (name: Scope): Operation["scope"] => ({ name, stated: true });
const likely = (name: Scope): Operation["scope"] => ({ name, stated: false });

type Row = Omit<Operation, "name">;

type RowOf<Class extends RiskClass> = Row & { riskClass: Class };

function read(path: string, scope: Operation["scope"], settings: readonly string[] = []): RowOf<"read"> {
  return { method: "GET", path, scope, riskClass: "read", expects: { statuses: [200] }, settings };
}

function write<Class extends RiskClass>(
  path: string,
  scope: Operation["scope"],
  riskClass: Class,
  expects: Operation["expects"],
  settings: readonly string[],
): RowOf<Class> {
  return { method: "POST", path, scope, riskClass, expects, settings };
}

const CREATED = { statuses: [201, 202], whenReplayed: [200] };
const DONE = { statuses: [200] };

/**
 * Fiscal Compliance API, "Endpoints". `pullPurchases` writes nothing that a second call could double: it counts as a
 * read.
 */
const TABLE = {
  getSale: read("/v1/sales/{id}", stated("sales:read")),
  createSale: write("/v1/sales", likely("sales:write"), "keyedWrite", CREATED, [
    "createSale.path",
    "createSale.businessIdIn",
    "createSale.fields.*",
    "createSale.lineFields.*",
    "createSale.customerFields.*",
    "createSale.branchBy",
  ]),
  createCreditNote: write("/v1/credit-notes", stated("sales:write"), "keyedWrite", CREATED, [
    "creditNote.businessIdIn",
  ]),
  retrySale: write("/v1/sales/{id}/retry", stated("sales:write"), "convergingWrite", DONE, ["retry.businessIdIn"]),
  adjustStock: write("/v1/stock/adjustments", stated("stock:write"), "unrepeatableWrite", { statuses: [201] }, [
    "stock.businessIdIn",
    "stock.branch",
    "stock.branchBy",
  ]),
  registerItem: write("/v1/items/{id}/register", stated("catalog:write"), "convergingWrite", DONE, [
    "register.branch",
    "register.branchBy",
    "register.force",
  ]),
  listItems: read("/v1/items", stated("catalog:read")),
  listPurchases: read("/v1/purchases", stated("purchases:read"), [
    "purchases.cursor",
    "purchases.pageSize",
    "purchases.status",
    "purchases.from",
    "purchases.to",
  ]),
  pullPurchases: write("/v1/purchases/pull", likely("purchases:read"), "read", { statuses: "2xx" }, [
    "pull.path",
    "pull.businessIdIn",
  ]),
  listBusinesses: read("/v1/businesses", null),
} satisfies Record<string, Row>;

/** Named by the document, its shape not shown: off until the dialect describes it. */
export const NAMED_OPERATIONS = ["createItem", "receiptDownload", "identity", "lookups"] as const;
export type NamedOperation = (typeof NAMED_OPERATIONS)[number];

export type ShownOperation = keyof typeof TABLE;
export type OperationName = ShownOperation | NamedOperation;

export type OperationsOf<Class extends RiskClass> = {
  [Name in ShownOperation]: (typeof TABLE)[Name]["riskClass"] extends Class ? Name : never;
}[ShownOperation];

export function operation(name: ShownOperation): Operation {
  return { name, ...TABLE[name] };
}

export const SHOWN_OPERATIONS = Object.keys(TABLE) as ShownOperation[];

/**
 * What to tell an operator if the service refuses a request as malformed, or does not find what it asks for: the
 * settings that can be meant. Which one it is, the service's message may say; nothing reads that (Fiscal Compliance API,
 * "Errors"). Empty if the document shows all of the request.
 *
 * @param more settings that this refusal depends on
 */
export function settingsHint(name: OperationName, more: readonly string[] = []): string {
  const { settings: own = [name] }: Partial<Row> = name in TABLE ? TABLE[name as ShownOperation] : {};
  const settings = [...more, ...own];
  const [last = "", ...others] = settings.toReversed();
  if (last === "") return "";
  const list = others.length === 0 ? last : `${others.toReversed().join(", ")} or ${last}`;
  return ` The API's document does not show every name of this request: if it uses another one, set ${list} in COMPLIANCE_DIALECT.`;
}
