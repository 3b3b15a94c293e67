import { Context } from "@temporalio/activity";

import {
  AccountingApiError,
  type AccountingClient,
  type AccountingDialect,
  type AccountingMeaning,
  type AccountingOperationName,
  type AccountingResult,
  classifyAccountingError,
} from "../../src/accounting/index.ts";
import type { AccountingProfile } from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import type { ClassifiedCall, ServiceHealth } from "../classified-call.ts";
import type { Observer } from "../observer.ts";
import { KeyReplacedError, type PresentKey } from "../present-key.ts";

/** One accounting connection as this process serves it. Key and secret are inside the client and nowhere else. */
export interface AccountingRuntime {
  profile: AccountingProfile;
  client: AccountingClient;
  dialect: AccountingDialect;
  /** Called for every call, so that one warning is given for a key that begins to be refused. */
  keyWatch: KeyStandingWatch;
  /** The key and the client secret, as one. */
  key: PresentKey;
  /** Told of every call too. */
  health: ServiceHealth;
}

export interface KeyStandingWatch {
  refused: (operation: string, status: number) => void;
  works: (operation: string) => void;
}

export interface AccountingContext {
  accounting: ReadonlyMap<string, AccountingRuntime>;
  ledger: Ledger;
  observer: Pick<Observer, "note">;
  nowMs: () => number;
  random: () => number;
}

/** Makes the call, and says what it came to. Never throws. */
export async function callAndClassify<Data>(
  { keyWatch, key, health }: AccountingRuntime,
  operation: AccountingOperationName,
  call: () => Promise<AccountingResult<Data>>,
): Promise<ClassifiedCall<Data, AccountingMeaning>> {
  const common = { replayed: false, operation, hint: "" };
  const { version } = key;
  try {
    const { data, odd } = await call();
    keyWatch.works(operation);
    health.served();
    return { ...common, meaning: { kind: "ok" }, data, odd, message: operation };
  } catch (thrown) {
    const error = await judgedByPresentKey(thrown, operation, version, key);
    if (error instanceof KeyReplacedError)
      return { ...common, meaning: { kind: "deferred", retryAfterMs: 0 }, error, message: error.message };
    await health.failed(error, Context.current().info.attempt);
    const { trouble } = health;
    const meaning = classifyAccountingError(operation, error);
    const message = error instanceof Error ? error.message : String(error);
    if (!(error instanceof AccountingApiError)) return { ...common, meaning, error, message, trouble };
    if (meaning.kind === "configuration") keyWatch.refused(operation, error.status);
    return { ...common, meaning, error, message, trouble, hint: operation === "listBillPayments" ? HINT : "" };
  }
}

/** A 401 says nothing of a key that is in use no longer. */
async function judgedByPresentKey(
  error: unknown,
  operation: string,
  version: PresentKey["version"],
  key: PresentKey,
): Promise<unknown> {
  if (!(error instanceof AccountingApiError) || error.status !== 401) return error;
  await key.readAgain();
  return key.version === version ? error : new KeyReplacedError(operation, error);
}

/** The names of the inputs are not shown (Accounting Service, "GET /bill-payments"). */
const HINT =
  " The accounting service's document does not show the names of the inputs: if it uses other ones, set billPayments.page, billPayments.limit, " +
  "billPayments.status, billPayments.sortBy or billPayments.sortDirection in ACCOUNTING_DIALECT.";
