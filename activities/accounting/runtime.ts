import type { AccountingClient, AccountingDialect } from "../../src/accounting/index.ts";
import type { AccountingProfile } from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import type { Observer } from "../observer.ts";
import type { ServiceHealth } from "../service-health.ts";

/** One accounting connection as this process serves it. Key and secret are inside the client and nowhere else. */
export interface AccountingRuntime {
  profile: AccountingProfile;
  client: AccountingClient;
  dialect: AccountingDialect;
  /** Called for every call, so that one warning is given for a key that begins to be refused. */
  keyWatch: KeyStandingWatch;
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
