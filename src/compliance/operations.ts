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
}

const stated = (name: Scope): Operation["scope"] => ({ name, stated: true });
const likely = (name: Scope): Operation["scope"] => ({ name, stated: false });
const ok = { statuses: [200] } as const;
const created = { statuses: [201, 202], whenReplayed: [200] } as const;

type Row = Omit<Operation, "name">;

/**
 * Fiscal Compliance API, "Endpoints". `pullPurchases` writes nothing that a second call could double: it counts as a
 * read.
 */
const TABLE = {
  getSale: { method: "GET", path: "/v1/sales/{id}", scope: stated("sales:read"), riskClass: "read", expects: ok },
  createSale: {
    method: "POST",
    path: "/v1/sales",
    scope: likely("sales:write"),
    riskClass: "keyedWrite",
    expects: created,
  },
  createCreditNote: {
    method: "POST",
    path: "/v1/credit-notes",
    scope: stated("sales:write"),
    riskClass: "keyedWrite",
    expects: created,
  },
  retrySale: {
    method: "POST",
    path: "/v1/sales/{id}/retry",
    scope: stated("sales:write"),
    riskClass: "convergingWrite",
    expects: ok,
  },
  adjustStock: {
    method: "POST",
    path: "/v1/stock/adjustments",
    scope: stated("stock:write"),
    riskClass: "unrepeatableWrite",
    expects: { statuses: [201] },
  },
  registerItem: {
    method: "POST",
    path: "/v1/items/{id}/register",
    scope: stated("catalog:write"),
    riskClass: "convergingWrite",
    expects: ok,
  },
  listItems: { method: "GET", path: "/v1/items", scope: stated("catalog:read"), riskClass: "read", expects: ok },
  listPurchases: {
    method: "GET",
    path: "/v1/purchases",
    scope: stated("purchases:read"),
    riskClass: "read",
    expects: ok,
  },
  pullPurchases: {
    method: "POST",
    path: "/v1/purchases/pull",
    scope: likely("purchases:read"),
    riskClass: "read",
    expects: { statuses: "2xx" },
  },
  listBusinesses: { method: "GET", path: "/v1/businesses", scope: null, riskClass: "read", expects: ok },
} as const satisfies Record<string, Row>;

/** Named by the document, its shape not shown: off until the dialect describes it. */
export const NAMED_OPERATIONS = ["createItem", "receiptDownload", "identity", "lookups"] as const;
export type NamedOperation = (typeof NAMED_OPERATIONS)[number];

export type ShownOperation = keyof typeof TABLE;
export type OperationName = ShownOperation | NamedOperation;

export function operation(name: ShownOperation): Operation {
  return { name, ...TABLE[name] };
}

export const SHOWN_OPERATIONS = Object.keys(TABLE) as ShownOperation[];
