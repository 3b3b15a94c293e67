import { classifyError, ComplianceApiError, type ComplianceDialect } from "../../src/compliance/index.ts";
import { type KeyCall, Circuit, type Pass } from "./circuit.ts";

/** What begins, or ceases, to be refused. Never holds the key itself. */
export interface KeyTrouble {
  connection: string;
  status: number;
  apiCode: string | undefined;
  /** The first call that was refused; with 401 all others are refused with it. */
  operation: string;
  businessId: string | undefined;
}

/** Told once when a key begins to be refused, and once when it works again. */
export interface KeyWatch {
  refused: (trouble: KeyTrouble) => void;
  works: (trouble: KeyTrouble, refusedForMs: number) => void;
}

interface CredentialCircuitBreakerOptions {
  connection: string;
  dialect: ComplianceDialect;
  /** The pause after the first refusal; later ones grow to twenty times of it. */
  firstPauseMs: number;
  nowMs: () => number;
  watch: KeyWatch;
}

/** One of the two circuits that a call passes, and the alert that its refusal raises. */
interface Way {
  alert: string;
  circuit: Circuit;
}

interface Alert {
  trouble: KeyTrouble;
  circuits: Set<Circuit>;
}

/** What the outcome of a call says of the key. */
type Word = { says: "accepted" | "nothing" } | { says: "refused"; error: ComplianceApiError };

/**
 * What the key of one connection is refused, as this process has seen it, so that a thousand sales on a refused key
 * make one call each pause and not a thousand (docs/failure-model.md, "What each kind of trouble means"). 401 is about
 * the key as a whole; 403 about one operation for one business (Fiscal Compliance API, "Authentication": a scope,
 * another business, or the other environment).
 */
export class CredentialCircuitBreaker {
  readonly #options: CredentialCircuitBreakerOptions;
  readonly #circuits = new Map<string, Circuit>();
  /** One for all businesses of an operation: an organisation-wide key has one owner. */
  readonly #alerts = new Map<string, Alert>();

  constructor(options: CredentialCircuitBreakerOptions) {
    this.#options = options;
  }

  /**
   * Sends the call unless its key was refused a moment ago.
   * @throws KeyHeldError where it was not sent, else whatever sending it throws
   */
  async pass<T>(call: KeyCall, send: () => Promise<T>): Promise<T> {
    const key = this.#way("401", "");
    const permission = this.#permissionOf(call);
    const nowMs = this.#nowMs(call);
    const held = key.circuit.held(call, nowMs) ?? permission.circuit.held(call, nowMs);
    if (held) throw held;
    const throughKey = { ...key, pass: key.circuit.enter(call) };
    const throughPermission = { ...permission, pass: permission.circuit.enter(call) };
    let word: Word = { says: "accepted" };
    try {
      return await send();
    } catch (error) {
      word = this.#wordOf(call, error);
      throw error;
    } finally {
      const lacksPermission = word.says === "refused" && word.error.status === 403;
      // A key that lacks a permission is a good key, and a bad key says nothing of its permissions.
      this.#settle(throughKey, call, lacksPermission ? { says: "accepted" } : word);
      this.#settle(throughPermission, call, word.says === "refused" && !lacksPermission ? { says: "nothing" } : word);
    }
  }

  /**
   * Whether a call that was scheduled later than that showed the key to be good, or good for that operation. A process
   * knows of its own calls alone.
   */
  acceptedAfter(atMs: number, permission?: Pick<KeyCall, "operation" | "businessId">): boolean {
    const { circuit } = permission ? this.#permissionOf(permission) : this.#way("401", "");
    return circuit.acceptedAtMs > atMs;
  }

  /** Whether such a call would not be sent now. */
  holds(call: KeyCall): boolean {
    const nowMs = this.#nowMs(call);
    return (
      (this.#way("401", "").circuit.held(call, nowMs) ?? this.#permissionOf(call).circuit.held(call, nowMs)) !==
      undefined
    );
  }

  #permissionOf({ operation, businessId }: Pick<KeyCall, "operation" | "businessId">): Way {
    return this.#way(`403 ${operation}`, businessId ?? "");
  }

  #settle({ alert, circuit, pass }: Way & { pass: Pass }, call: KeyCall, word: Word): void {
    const nowMs = this.#nowMs(call);
    switch (word.says) {
      case "refused":
        if (circuit.refuse(pass, call, word.error, nowMs)) this.#tellRefused(alert, circuit, call, word.error);
        return;
      case "accepted": {
        const refusedForMs = nowMs - (circuit.refusedSinceMs ?? nowMs);
        if (circuit.accept(pass, call)) this.#tellWorks(alert, circuit, refusedForMs);
        return;
      }
      case "nothing":
        circuit.leave(pass);
    }
  }

  #wordOf({ operation }: KeyCall, error: unknown): Word {
    if (!(error instanceof ComplianceApiError)) return { says: "nothing" };
    const { status, envelope } = error;
    const configuration = classifyError(operation, error, this.#options.dialect).kind === "configuration";
    // A 403 without the service's own envelope is somebody's in between: a firewall that dislikes one sale's words, for
    // example.
    if (configuration && (status === 401 || envelope)) return { says: "refused", error };
    const served = envelope && status < 500 && ![401, 403, 408, 429].includes(status);
    return { says: served ? "accepted" : "nothing" };
  }

  /** Whichever clock is ahead: a task that queued was scheduled long ago, and a test's server skips time. */
  #nowMs({ scheduledAtMs }: KeyCall): number {
    return Math.max(this.#options.nowMs(), scheduledAtMs);
  }

  #way(alert: string, business: string): Way {
    const name = `${alert} ${business}`;
    let circuit = this.#circuits.get(name);
    if (!circuit) this.#circuits.set(name, (circuit = new Circuit(this.#options.firstPauseMs)));
    return { alert, circuit };
  }

  #tellRefused(name: string, circuit: Circuit, call: KeyCall, { status, apiCode }: ComplianceApiError): void {
    const known = this.#alerts.get(name);
    if (known) {
      known.circuits.add(circuit);
      return;
    }
    const { connection, watch } = this.#options;
    const { operation, businessId } = call;
    const trouble = { connection, status, apiCode, operation, businessId };
    this.#alerts.set(name, { trouble, circuits: new Set([circuit]) });
    tell(() => watch.refused(trouble));
  }

  #tellWorks(name: string, circuit: Circuit, refusedForMs: number): void {
    const alert = this.#alerts.get(name);
    alert?.circuits.delete(circuit);
    if (!alert || alert.circuits.size > 0) return;
    this.#alerts.delete(name);
    tell(() => this.#options.watch.works(alert.trouble, refusedForMs));
  }
}

/** A watch that throws must not turn a write that was answered into one whose outcome nobody knows. */
function tell(word: () => void): void {
  try {
    word();
  } catch {
    // Nobody is left to be told.
  }
}
