import type { ComplianceClient, ComplianceDialect } from "../../src/compliance/index.ts";
import type { ConnectionProfile, PaymentRule } from "../../src/contract/index.ts";
import type { Ledger } from "../../src/ledger/index.ts";
import type { EarlierRuns } from "../earlier-runs/earlier-runs.ts";
import { notServed } from "../failure.ts";
import type { Observer } from "../observer.ts";
import type { PollBounds } from "../poll-schedule.ts";
import type { Catalogue } from "./catalogue.ts";
import type { CredentialCircuitBreaker } from "./credential-circuit-breaker.ts";

/** One connection as this process serves it. The key is inside the client and nowhere else. */
export interface ComplianceRuntime {
  profile: ConnectionProfile;
  /** Of businesses that are not alike; each workflow is told its own alone. */
  businessWeights: Readonly<Record<string, number>>;
  /** How supplier invoices are held against bill payments, where the reconciliation is not told otherwise. */
  reconcile: { accounting?: string; rule: PaymentRule };
  client: ComplianceClient;
  dialect: ComplianceDialect;
  /** Every call passes it, so that a refused key is tried by one call and not by each. */
  credentialBreaker: CredentialCircuitBreaker;
  catalogue: Catalogue;
  pollBounds: PollBounds;
  /** The list of items is read again when it is this old. */
  catalogueAgeMs: number;
}

export interface ActivityContext {
  connections: ReadonlyMap<string, ComplianceRuntime>;
  ledger: Ledger;
  earlierRuns: Pick<EarlierRuns, "takeOver">;
  observer: Pick<Observer, "note">;
  nowMs: () => number;
  random: () => number;
}

/** @throws ApplicationFailure NotServed: another worker may know the connection, after a change of configuration for example */
export function runtimeOf({ connections }: Pick<ActivityContext, "connections">, name: string): ComplianceRuntime {
  const runtime = connections.get(name);
  if (runtime) return runtime;
  throw notServed(servesNo({ connections }, name));
}

export function servesNo({ connections }: Pick<ActivityContext, "connections">, name: string): string {
  const known = [...connections.keys()].join(", ") || "none";
  return `This worker serves no connection named ${name}; it serves: ${known}.`;
}
