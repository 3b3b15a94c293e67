/**
 * The client of the Compliance API: its calls, its dialect, the bytes of its requests, and what its answers mean. When
 * something is called, and whether again, the workflows decide.
 *
 * Stands on: `src/contract` (types), `src/contract/schema` (types), `src/http`.
 */
export {
  type Classification,
  classifyAnswer,
  classifyError,
  classifyItem,
  classifyMovement,
  type ClassifyOptions,
} from "./classify.ts";
export { type ComplianceClient, createComplianceClient, requireDescribed, type Result } from "./client.ts";
export { BRANCH_NOT_SENT, branchSentAs, composeCreateSale, composeCreditNote } from "./compose.ts";
export { type ComplianceDialect, complianceSettings, parseDialect } from "./dialect.ts";
export { ComplianceApiError } from "./errors.ts";
export { ignoredFields } from "./compose.ts";
export {
  type NamedOperation,
  type OperationName,
  type OperationsOf,
  type RiskClass,
  settingsHint,
  SHOWN_OPERATIONS,
} from "./operations.ts";
export type { Business, Purchase } from "./answers.ts";
