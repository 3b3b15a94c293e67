/** The typed client of the Fiscal Compliance API, and what its answers mean. */
export type { AnswerMeta } from "./answer-meta.ts";
export { type ApiKey, type KeyKind, parseApiKey } from "./api-key.ts";
export { BRANCH_NOT_SENT, branchSentAs } from "./branch-selector.ts";
export { parseBaseUrl } from "./base-url.ts";
export type { Business } from "./businesses.ts";
export type { BusinessCallOptions, CallOptions, OutgoingRequest, Result } from "./call-operation.ts";
export type { Classification } from "./classification.ts";
export type { ClassificationRules } from "./classification-rows.ts";
export {
  classify,
  classifyAnswer,
  classifyDocument,
  classifyError,
  classifyItem,
  classifyMovement,
  type ClassifyOptions,
  rulesOf,
} from "./classify.ts";
export { type ComplianceClient, type ComplianceClientOptions, createComplianceClient } from "./client.ts";
export { composeCreateSale, type CreateSaleInput } from "./compose-create-sale.ts";
export { composeCreditNote, type CreditNoteComposition } from "./compose-credit-note.ts";
export type { ComposedRequest } from "./composed-request.ts";
export { type ComplianceDialect, parseDialect, statesSaleKey } from "./dialect.ts";
export { type DocumentPhase, phaseOf } from "./document-phase.ts";
export type { ErrorExtras, SeenItem, SeenSale } from "./error-envelope.ts";
export {
  ComplianceApiError,
  ComplianceConfigurationError,
  ComplianceInputError,
  UnexpectedAnswerError,
} from "./errors.ts";
export type { RegisterItemInput } from "./items.ts";
export { ignoredFields } from "./ignored-fields.ts";
export type { KeyReach } from "./key-reach.ts";
export { type NamedCallInput, type ReceiptFile, requireDescribed } from "./named-operations.ts";
export type { NamedOperation, Operation, OperationName, RiskClass, Scope, ShownOperation } from "./operations.ts";
export { NAMED_OPERATIONS, operation, SHOWN_OPERATIONS } from "./operations.ts";
export type { AnswerOutcome, Outcome } from "./outcome.ts";
export type { ListPurchasesInput, PurchasesPage } from "./purchases.ts";
export type { KeyedCallOptions } from "./sales.ts";
export { redactDeep } from "./redact.ts";
export type { Purchase } from "./schemas.ts";
export type { AdjustStockInput } from "./stock.ts";
export { settingsBehind, settingsHint } from "./settings-behind.ts";
