import type { StockMode } from "./sale.ts";

/**
 * What a workflow knows of its connection: names and timings, never a key. Looked up once at the workflow's start and
 * kept in its history, so that a change of configuration reaches new workflows only.
 */
export interface ConnectionProfile {
  connection: string;
  /** Connections of one application share one request budget, and so their task queues. */
  application: string;
  /** Sent with organisation-wide keys; with a bound key it only names the business. */
  businessId?: string;
  /**
   * Of the business, beside the others of an organisation-wide key: its share of the budget while several wait. Absent:
   * 1.
   */
  businessWeight?: number;
  keyReach: "organisation" | "business";
  /** What the API does with the Idempotency-Key of a sale (dialect, `createSale.idempotencyKey`). */
  saleKey: "trusted" | "sent" | "off";
  stock: StockMode;
  timings: WorkflowTimings;
}

/**
 * Milliseconds, where nothing else is configured
 * (https://github.com/fiscalflow/fiscalflow/blob/main/docs/configuration.md).
 */
export interface WorkflowTimings {
  /** One HTTP call, from connecting to the last byte. */
  callTimeoutMs: number;
  /** The pauses before each automatic resubmission of a rejected document; their number is the bound. */
  resubmissionDelaysMs: number[];
  firstPollMs: number;
  firstPollWithCallbackMs: number;
  slowAfterMs: number;
  /** Schedule-to-close timeout of calls that may be repeated. After it an operator is shown that none was served. */
  unservedAfterMs: number;
  keyLifeMs: number;
  refundWindowMs: number;
}

/**
 * A request whose bytes are fixed before it is sent for the first time, so that every attempt under its key is equal.
 */
export interface ComposedRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  bodyJson: string;
}
