import { onTestFinished } from "vitest";
import { startSimulator, type Simulator, type SimulatorOptions } from "../index.ts";

/** An answer as a test reads it. */
export interface TestAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

export interface CallOptions {
  body?: unknown;
  /** Default `biz_1`; null leaves it out. */
  businessId?: string | null;
  key?: string | null;
  idempotencyKey?: string;
  headers?: Record<string, string>;
}

/** Starts a simulator that ends with the test. */
export async function simulatorUnderTest(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator(options);
  onTestFinished(async () => simulator.close());
  return simulator;
}

/** One call over real HTTP, with the built-in key and business by default. */
export async function call(
  { url }: Pick<Simulator, "url">,
  method: string,
  path: string,
  { body, businessId = "biz_1", key = "cmp_sk_test_simulator", idempotencyKey, headers = {} }: CallOptions = {},
): Promise<TestAnswer> {
  const target = new URL(path, url);
  if (businessId !== null) target.searchParams.set("businessId", businessId);
  const response = await fetch(target, {
    method,
    headers: {
      ...(key === null ? {} : { "x-api-key": key }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json: unknown = text.startsWith("{") ? JSON.parse(text) : text;
  return { status: response.status, headers: response.headers, body: json };
}

/** Follows names into an answer; undefined where it leads nowhere. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  );
}

/** The id of the document in an answer. */
export function saleId(answer: TestAnswer): string {
  const id = at(answer.body, "data", "sale", "id") ?? at(answer.body, "error", "sale", "id");
  if (typeof id !== "string") throw new Error(`No document in ${JSON.stringify(answer.body)}`);
  return id;
}

/** The error code of an answer. */
export function codeOf(answer: TestAnswer): unknown {
  return at(answer.body, "error", "code");
}

/** A sale of two packets of tea. */
export function teaSale(traderInvoiceNumber: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    traderInvoiceNumber,
    saleDate: "2025-03-01",
    customer: { name: "Achieng", pin: "A000000000B" },
    lines: [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }],
    ...more,
  };
}

export function creditNote(saleIdToReverse: string, traderInvoiceNumber = "CN-1"): Record<string, unknown> {
  return { traderInvoiceNumber, returnDate: "2025-03-02", saleId: saleIdToReverse, reason: "06" };
}
