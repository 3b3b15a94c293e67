import type { StockMode } from "./schema/sale.ts";
import { FAILURES, FiscalflowError } from "./errors.ts";
import { DEFAULT_CONNECTION } from "./names.ts";
import { fewOf } from "./plain-text.ts";

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
  keyReach: "organisation" | "business";
  /** What the API does with the Idempotency-Key of a sale (dialect, `createSale.idempotencyKey`). */
  saleKey: "trusted" | "sent" | "off";
  stock: StockMode;
  timings: WorkflowTimings;
}

/** In milliseconds (docs/configuration.md). */
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

/** Fixed before it is sent for the first time, so that every attempt under its key is equal. */
export interface ComposedRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  bodyJson: string;
}

/** Every call names where it goes. */
export interface CallTarget {
  connection: string;
  businessId?: string | undefined;
  /**
   * When an operator last asked this run to try again (Unix milliseconds, by the clock of the Temporal server): a
   * refusal of the key that is older is not believed, and the call goes out.
   */
  retriedAtMs?: number | undefined;
}

export interface AccountingProfile {
  connection: string;
  /** One HTTP call, from connecting to the last byte. */
  callTimeoutMs: number;
  unservedAfterMs: number;
}

export interface AccountingTarget {
  connection: string;
}

/**
 * As `COMPLIANCE_BUSINESSES` names them. An organisation-wide key issues signed documents for whichever business a
 * request names, so the name is checked here.
 */
export type ServedBusinesses = readonly string[] | "any";

/** The connection does not work for this business. Nothing was started, and nothing was sent. */
export class UnknownBusinessError extends FiscalflowError {
  override readonly name = "UnknownBusinessError";
  override readonly code = FAILURES.unknownBusiness;
  readonly businesses: readonly string[];

  constructor(message: string, businesses: readonly string[]) {
    super(message);
    this.businesses = businesses;
  }

  static of(businessId: string, connection: string, businesses: readonly string[]): UnknownBusinessError {
    const served = fewOf(businesses).join(", ");
    return new UnknownBusinessError(
      `The business "${businessId}" is not served through the connection "${connection}", so nothing was sent. Served: ${served}. Correct the business, or add it to COMPLIANCE_BUSINESSES.`,
      businesses,
    );
  }
}

/**
 * Also under a key that is bound to one business, which is sent no name: another name would make another workflow id,
 * and so a second document of the same number.
 * @throws UnknownBusinessError
 */
export function requireServed(
  served: ServedBusinesses,
  businessId: string,
  connection: string = DEFAULT_CONNECTION,
): void {
  if (served !== "any" && !served.includes(businessId)) throw UnknownBusinessError.of(businessId, connection, served);
}
