export interface AccountingOperation {
  name: "listCompanies" | "listBillPayments" | "processSyncBatch";
  method: "GET" | "POST";
  /** As the document writes it. */
  path: string;
  /** `read`: may be repeated freely; `unrepeatableWrite`: at most once, on a fresh connection. */
  riskClass: "read" | "unrepeatableWrite";
}

/** Accounting Service, "Endpoints": paths carry no version prefix. */
export const ACCOUNTING_OPERATIONS = {
  listCompanies: { name: "listCompanies", method: "GET", path: "/companies", riskClass: "read" },
  listBillPayments: { name: "listBillPayments", method: "GET", path: "/bill-payments", riskClass: "read" },
  processSyncBatch: {
    name: "processSyncBatch",
    method: "POST",
    path: "/sync/batches/{syncBatchId}/process",
    riskClass: "unrepeatableWrite",
  },
} as const satisfies Record<string, AccountingOperation>;

export type AccountingOperationName = keyof typeof ACCOUNTING_OPERATIONS;
