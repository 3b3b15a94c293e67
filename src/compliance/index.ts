/**
 * The client of the Compliance API: its calls, its dialect, the bytes of its requests, and what its answers mean. When
 * something is called, and whether again, the workflows decide.
 */
export { BRANCH_NOT_SENT, branchSentAs } from "./compose.ts";
export type { Business } from "./resources.ts";
export type { Result } from "./call-operation.ts";
export type { Classification } from "./outcome.ts";
export { classifyAnswer, classifyError, classifyItem, classifyMovement, type ClassifyOptions } from "./classify.ts";
export { type ComplianceClient, createComplianceClient } from "./client.ts";
export { composeCreateSale } from "./compose.ts";
export { composeCreditNote } from "./compose.ts";
export { type ComplianceDialect, complianceSettings, parseDialect, statesSaleKey } from "./dialect.ts";
export {
  ComplianceApiError,
  ComplianceConfigurationError,
  ComplianceInputError,
  UnexpectedAnswerError,
} from "./errors.ts";
export { ignoredFields } from "./ignored-fields.ts";
export { requireDescribed } from "./named-operations.ts";
export type { NamedOperation, OperationName } from "./operations.ts";
export { SHOWN_OPERATIONS } from "./operations.ts";
export { redactDeep } from "./redact.ts";
export type { Purchase } from "./schemas.ts";
export { settingsHint } from "./settings-hint.ts";
