import type { AccountingClient, AccountingDialect } from "../../src/accounting/index.ts";
import type { AccountingProfile } from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import { notServed } from "../failure.ts";
import type { Observer } from "../observer.ts";

/** One accounting connection as this process serves it. Key and secret are inside the client and nowhere else. */
export interface AccountingRuntime {
  profile: AccountingProfile;
  client: AccountingClient;
  dialect: AccountingDialect;
  /** Told of every call, so that one warning is given for a key that begins to be refused. */
  keyWatch: KeyStandingWatch;
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

/**
 * @throws ApplicationFailure NotServed: another worker may know the connection, after a change of configuration for
 * example
 */
export function accountingRuntimeOf(
  { accounting }: Pick<AccountingContext, "accounting">,
  name: string,
): AccountingRuntime {
  const runtime = accounting.get(name);
  if (runtime) return runtime;
  throw notServed(servesNoAccounting({ accounting }, name));
}

export function servesNoAccounting({ accounting }: Pick<AccountingContext, "accounting">, name: string): string {
  const known = [...accounting.keys()].join(", ") || "none";
  return `This worker serves no accounting connection named ${name}; it serves: ${known}.`;
}
