/**
 * The client of the accounting service: its calls, its dialect, its signatures, and what its answers mean. When
 * something is called, and whether again, the workflows decide.
 */
export type { AccountingAnswerMeta } from "./errors.ts";
export type { BillPaymentsPage, ListBillPaymentsInput } from "./bill-payments.ts";
export type { AccountingCallOptions, AccountingResult } from "./call-operation.ts";
export { type AccountingMeaning, classifyAccountingError } from "./classify.ts";
export { type AccountingClient, type AccountingClientOptions, createAccountingClient } from "./client.ts";
export type { Company } from "./client.ts";
export { type AccountingDialect, accountingSettings, parseAccountingDialect, type WebhookDialect } from "./dialect.ts";
export {
  AccountingApiError,
  AccountingConfigurationError,
  AccountingForbiddenError,
  AccountingInputError,
  AccountingUnauthorizedError,
  AccountingUnexpectedAnswerError,
} from "./errors.ts";
export type { AccountingOperation, AccountingOperationName } from "./operations.ts";
export { messageToSign, signatureHeaders, type ToSign } from "./call-operation.ts";
export type { ProcessedBatch } from "./client.ts";
export { createDispatchers } from "../http/transport.ts";
export { createTransport } from "../http/transport.ts";
