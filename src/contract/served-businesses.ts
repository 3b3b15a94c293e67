import { FAILURES } from "./calls.ts";
import { FiscalflowError } from "./fiscalflow-error.ts";
import { DEFAULT_CONNECTION } from "./names.ts";

/**
 * The businesses that a connection works for (`COMPLIANCE_BUSINESSES`), or `any` that its key reaches. An
 * organisation-wide key issues signed documents for whichever business a request names, so the name is checked here.
 */
export type ServedBusinesses = readonly string[] | "any";

const MOST_NAMED = 20;

/** The connection does not work for this business. Nothing was started, and nothing was sent. */
export class UnknownBusinessError extends FiscalflowError {
  override readonly name = "UnknownBusinessError";
  override readonly code = FAILURES.unknownBusiness;
  /** Those that the connection serves. */
  readonly businesses: readonly string[];

  constructor(message: string, businesses: readonly string[]) {
    super(message);
    this.businesses = businesses;
  }

  static of(businessId: string, connection: string, businesses: readonly string[]): UnknownBusinessError {
    const more = businesses.length > MOST_NAMED ? `, and ${businesses.length - MOST_NAMED} more` : "";
    const served = `${businesses.slice(0, MOST_NAMED).join(", ")}${more}`;
    return new UnknownBusinessError(
      `The business "${businessId}" is not served through the connection "${connection}", so nothing was sent. Served: ${served}. Correct the business, or add it to COMPLIANCE_BUSINESSES.`,
      businesses,
    );
  }
}

/**
 * Under a key that is bound to one business, another name is refused too, although no name is sent: it would make
 * another workflow id, and so a second document of the same number.
 * @throws UnknownBusinessError
 */
export function requireServed(
  served: ServedBusinesses,
  businessId: string,
  connection: string = DEFAULT_CONNECTION,
): void {
  if (served !== "any" && !served.includes(businessId)) throw UnknownBusinessError.of(businessId, connection, served);
}
