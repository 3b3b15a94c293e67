/**
 * The client of the accounting service: its calls, its dialect, its signatures, and what its answers mean. When
 * something is called, and whether again, the workflows decide.
 *
 * Stands on: `src/contract` (types), `src/http`.
 */
export {
  type AccountingClient,
  type AccountingResult,
  type BillPaymentsPage,
  createAccountingClient,
  type ListBillPaymentsInput,
} from "./client.ts";
export { type AccountingDialect, accountingSettings, parseAccountingDialect } from "./dialect.ts";
export { AccountingApiError, type AccountingMeaning, classifyAccountingError } from "./errors.ts";
export type { AccountingOperationName } from "./operations.ts";
