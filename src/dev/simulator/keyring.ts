import type { IncomingHttpHeaders } from "node:http";
import { keyPatchSchema, keySchema, type KeyPatch, type Scenario, type Scope } from "./scenario-schema.ts";
import { InstructionError, parseInstruction } from "./problems.ts";

export type Application = Omit<Scenario["applications"][number], "keys">;
type Key = Scenario["applications"][number]["keys"][number];

/** Who calls, once the key is known to be good. */
export interface Caller {
  application: Application;
  environment: "sandbox" | "production";
  boundTo: string | null;
  scopes: readonly Scope[];
}

function keyIn(headers: IncomingHttpHeaders): string | undefined {
  const direct = headers["x-api-key"];
  if (typeof direct === "string") return direct;
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1];
}

/** Applications and their keys (document, Authentication). */
export class Keyring {
  readonly #applications = new Map<string, Application>();
  readonly #keys = new Map<string, Key & { application: string }>();

  constructor(applications: Scenario["applications"]) {
    for (const { keys, ...application } of applications) {
      this.#applications.set(application.name, application);
      for (const key of keys) this.#keys.set(key.key, { ...key, application: application.name });
    }
  }

  /**
   * Undefined for a missing, malformed, unknown, revoked or expired key and for a suspended application: the caller
   * never learns which.
   */
  caller(headers: IncomingHttpHeaders, nowMs: number): Caller | undefined {
    const found = this.#keys.get(keyIn(headers) ?? "");
    const application = found === undefined ? undefined : this.#applications.get(found.application);
    if (found === undefined || application === undefined || application.suspended || found.revoked) return undefined;
    if (found.expiresAtMs !== null && found.expiresAtMs <= nowMs) return undefined;
    return {
      application,
      environment: found.key.startsWith("cmp_sk_live_") ? "production" : "sandbox",
      boundTo: found.businessId,
      scopes: found.scopes,
    };
  }

  /** Changes a key, makes it when the patch names its application, or removes it (null). */
  set(key: string, patch: KeyPatch | null): void {
    if (patch === null) {
      this.#keys.delete(key);
      return;
    }
    const { application: named, ...changes } = parseInstruction("key", keyPatchSchema, patch);
    const known = this.#keys.get(key);
    const application = named ?? known?.application;
    if (application === undefined || !this.#applications.has(application))
      throw new InstructionError("key", [`key.application: there is no application "${String(application)}"`]);
    const { application: _application, ...before } = known ?? { application, key };
    this.#keys.set(key, { ...parseInstruction("key", keySchema, { ...before, ...changes }), application });
  }

  setLimit(application: string, limitPerWindow: number): void {
    const known = this.#applications.get(application);
    if (known === undefined) throw new InstructionError("limit", [`there is no application "${application}"`]);
    known.limitPerWindow = limitPerWindow;
  }

  /** Suspends or restores an application. */
  setSuspended(application: string, suspended: boolean): void {
    const known = this.#applications.get(application);
    if (known === undefined) throw new InstructionError("application", [`there is no application "${application}"`]);
    known.suspended = suspended;
  }
}
