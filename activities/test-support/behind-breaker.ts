import { ComplianceApiError, type OperationName, parseDialect } from "../../src/compliance/index.ts";
import {
  CredentialCircuitBreaker,
  type KeyCall,
  KeyHeldError,
  KeyReplacedError,
  type KeyTrouble,
  type PresentKey,
} from "../credential-circuit-breaker.ts";

export const START_MS = Date.parse("2026-11-21T09:00:00Z");
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

/** One that stays. */
export const ONE_KEY: PresentKey = { version: 1, readAgain() {} };

/**
 * A service that answers each call with `status`, and a breaker in front of it. When the key is read again, it becomes
 * `key.inFile`.
 */
export function behindBreaker() {
  const clock = { nowMs: START_MS };
  const service = { status: 401, envelope: true, sent: [] as string[] };
  const alerts: (KeyTrouble & { says: string })[] = [];
  const key = { version: 1, inFile: 1, readings: 0 };
  const told = { isRefused: () => false };
  const breaker = new CredentialCircuitBreaker({
    connection: "default",
    key: {
      get version() {
        return key.version;
      },
      readAgain() {
        key.readings++;
        key.version = key.inFile;
      },
    },
    dialect: parseDialect({}),
    firstPauseMs: 30 * SECOND,
    nowMs: () => clock.nowMs,
    watch: {
      refused(trouble, isRefused) {
        alerts.push({ says: "refused", ...trouble });
        told.isRefused = isRefused;
      },
      works: (trouble) => void alerts.push({ says: "works", ...trouble }),
    },
  });
  let callers = 0;
  const call = (changes: Partial<KeyCall> = {}): KeyCall => ({
    operation: "createSale",
    businessId: "biz_1",
    caller: `sale/${callers++}`,
    scheduledAtMs: clock.nowMs,
    retriedAtMs: undefined,
    ...changes,
  });
  const answer = (operation: OperationName): Promise<string> =>
    service.status < 400 ? Promise.resolve("done") : Promise.reject(apiError(operation, service));
  /** What became of one call: the answer, `held`, or the status of the error. */
  const ask = async (changes: Partial<KeyCall> = {}): Promise<string> => {
    const made = call(changes);
    const send = (): Promise<string> => {
      service.sent.push(made.operation);
      return answer(made.operation);
    };
    return breaker.pass(made, send).catch(whatHappened);
  };
  return { clock, service, key, alerts, told, breaker, call, ask };
}

export function apiError(operation: OperationName, { status, envelope }: { status: number; envelope: boolean }) {
  const meta = { operation, status, replayed: false, requestSentAtMs: START_MS, answeredAtMs: START_MS };
  const apiCode = envelope ? "no" : undefined;
  return new ComplianceApiError(`${operation}: HTTP ${status}`, meta, { apiCode, envelope, extras: {} });
}

export function whatHappened(error: unknown): string {
  if (error instanceof KeyHeldError) return "held";
  if (error instanceof KeyReplacedError) return "replaced";
  if (error instanceof ComplianceApiError) return String(error.status);
  return error instanceof Error ? error.message : "nothing";
}

/** A call that has left and is answered when the test says so. */
export function underWay(breaker: CredentialCircuitBreaker, call: KeyCall): { answer: () => Promise<void> } {
  let resolve = (): void => {};
  const answered = new Promise<void>((done) => (resolve = done));
  const passed = breaker.pass(call, () => answered);
  return {
    answer() {
      resolve();
      return passed;
    },
  };
}
