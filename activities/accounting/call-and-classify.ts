import { Context } from "@temporalio/activity";

import {
  AccountingApiError,
  type AccountingMeaning,
  type AccountingOperationName,
  type AccountingResult,
  AccountingUnauthorizedError,
  AccountingUnexpectedAnswerError,
  classifyAccountingError,
} from "../../src/accounting/index.ts";
import type { Refusal } from "../../src/contract/index.ts";
import type { OddRow } from "../../src/http/read-body.ts";
import { afterQuotaMs, backoffMs, deferred, transient } from "../failure.ts";
import type { AccountingRuntime } from "./runtime.ts";

/** What one call came to. */
export type ClassifiedCall<Data> =
  | { data: Data; /** Rows of a list that are not of their form, and are not in `data`. */ odd: readonly OddRow[] }
  | { meaning: AccountingMeaning; error: unknown; /** In words, for a person. */ message: string };

type Failed = Exclude<ClassifiedCall<never>, { data: unknown }>;

/** Makes the call, and says what it came to. Never throws. */
export async function callAndClassify<Data>(
  { keyWatch }: AccountingRuntime,
  operation: AccountingOperationName,
  call: () => Promise<AccountingResult<Data>>,
): Promise<ClassifiedCall<Data>> {
  try {
    const { data, odd = [] } = await call();
    keyWatch.works(operation);
    return { data, odd };
  } catch (error) {
    const meaning = classifyAccountingError(operation, error);
    if (meaning.kind === "configuration" && error instanceof AccountingApiError)
      keyWatch.refused(operation, error.status);
    return { meaning, error, message: error instanceof Error ? error.message : String(error) };
  }
}

/** What a person is needed for. A meaning that this operation cannot have by its table is shown as unexpected. */
export function refusalOf({ meaning, error, message }: Failed): Refusal {
  switch (meaning.kind) {
    case "configuration":
      return { kind: "refused", attention: "credentials", message, ...whatWasSaid(error) };
    case "refused":
      return {
        kind: "refused",
        attention: meaning.attention,
        message: `${message}${hintOf(error)}`,
        ...whatWasSaid(error),
      };
    default:
      return { kind: "refused", attention: "unexpected-answer", message };
  }
}

/** The names of the inputs are not shown (Accounting Service, "GET /bill-payments"). */
function hintOf(error: unknown): string {
  if (!(error instanceof AccountingApiError) || error.meta.operation !== "listBillPayments") return "";
  return (
    ". The service's document does not show the names of the inputs: if it uses other ones, set billPayments.page, billPayments.limit, " +
    "billPayments.status, billPayments.sortBy or billPayments.sortDirection in ACCOUNTING_DIALECT."
  );
}

/** The service's own words about an error, without what a message must not hold (the client has taken that out). */
export function whatWasSaid(error: unknown): Pick<Refusal, "status" | "details"> {
  if (error instanceof AccountingUnexpectedAnswerError) {
    return { status: error.status, details: { issues: error.issues, bodyExcerpt: error.bodyExcerpt } };
  }
  if (!(error instanceof AccountingApiError)) return {};
  const { status, bodyExcerpt } = error;
  const clockAheadMs = error instanceof AccountingUnauthorizedError ? error.clockAheadMs : undefined;
  const details = { ...(bodyExcerpt && { bodyExcerpt }), ...(clockAheadMs !== undefined && { clockAheadMs }) };
  return { status, ...(Object.keys(details).length > 0 && { details }) };
}

/** Throws where a read is to be tried again by Temporal; returns where its meaning is another. */
export function throwToReadAgain({ meaning, message }: Failed, random: () => number): void {
  if (meaning.kind === "deferred") throw deferred(message, afterQuotaMs(meaning.retryAfterMs, random));
  if (meaning.kind === "transient") throw transient(message, backoffMs(Context.current().info.attempt, random));
}
