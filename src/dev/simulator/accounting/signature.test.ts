import { describe, expect, test } from "vitest";
import type { SimulatorOptions } from "../index.ts";
import { askAccounting as ask } from "../test-support/ask-accounting.ts";
import { simulatorUnderTest } from "../test-support/simulator-under-test.ts";

const MINUTE_MS = 60_000;

/**
 * Each made with: printf '%s' MESSAGE | openssl dgst -sha256 -hmac cs_simulator -hex. Neither the product's signature
 * nor the simulator's check had a hand in it.
 */
const VECTORS: Readonly<Record<string, string>> = {
  "GET/accounting/companies1795251600000": "ab83e357cbd6e7ca2fc754427adbe5ee76bfb70a77591d7122d64f95da3c2f97",
  "GET/accounting/companies1795251300000": "7b331aeee02612896e101e94230e1807ebbe9aa5ba3364b216dfa883792c0edc",
  "GET/accounting/companies1795251900000": "6abb2a3f0f238fd3c46dc17c4e9c19d39c0354ffddd020c0a0fc91385d267427",
  "GET/accounting/companies1795251299999": "a60c0627e5ae280dc90b7d80cee485a2ba0e87f2711201c793a66f360a33695e",
  "GET/accounting/companies1795251900001": "cf320087ae78a4a7803279938db8f9f79e4e3ceb989a7cb8a5eacb5ff81dba68",
  "GET/companies1795251600000": "17a5d3820994de552b071140eb5f20f48a2c8debb6d7059c06f1925cd35ff24d",
  "POST/accounting/companies1795251600000": "a0cb764d1fd225ab84db5efde16dd85a38dc8871cde63fd037e274d6880f1429",
  "GET/accounting/bill-payments1795251600000": "33b9b0f59e10fddb3253da616c9291144ea578adfae768e0cb2fc7a906c51fb0",
  "GET/accounting/bill-payments?page=1&limit=51795251600000":
    "4bf097b70bd7928c8fe36df58b2c652845aa2daecdd3192f3744c1bbba73da06",
};

function signedByHand(message: string, timestampMs: number): Record<string, string> {
  const signature = VECTORS[`${message}${timestampMs}`];
  if (signature === undefined) throw new Error(`there is no vector for ${message}${timestampMs}`);
  return { "x-signature": signature, "x-timestamp": String(timestampMs) };
}

describe("a signature", () => {
  const nowMs = Date.parse("2026-11-21T09:00:00Z");
  const path = "/accounting/companies";
  const under = (options: SimulatorOptions = {}) => simulatorUnderTest({ nowMs: () => nowMs, ...options });

  test.each([
    ["made now", 0, 200],
    ["five minutes old", -5 * MINUTE_MS, 200],
    ["five minutes early", 5 * MINUTE_MS, 200],
    ["older", -5 * MINUTE_MS - 1, 401],
    ["from further in the future", 5 * MINUTE_MS + 1, 401],
  ])("that was %s is answered accordingly", async (_when, offsetMs, status) => {
    const headers = signedByHand(`GET${path}`, nowMs + offsetMs);
    expect((await ask(await under(), "/companies", { headers })).status).toBe(status);
  });

  const good = signedByHand(`GET${path}`, nowMs);
  const flipped = `${good["x-signature"]?.startsWith("0") ? "1" : "0"}${good["x-signature"]?.slice(1)}`;
  test.each([
    ["with one digit changed", { ...good, "x-signature": flipped }],
    ["in upper case", { ...good, "x-signature": good["x-signature"]?.toUpperCase() }],
    ["cut short", { ...good, "x-signature": good["x-signature"]?.slice(0, 62) }],
    ["of another path", signedByHand("GET/companies", nowMs)],
    ["of another method", signedByHand(`POST${path}`, nowMs)],
    ["under another timestamp than is sent", { ...good, "x-timestamp": String(nowMs + 1) }],
    ["without its timestamp", { ...good, "x-timestamp": undefined }],
    ["that is only a timestamp", { ...good, "x-signature": undefined }],
  ])("%s is refused", async (_how, headers) => {
    expect((await ask(await under(), "/companies", { headers })).status).toBe(401);
  });

  test.each([true, false])("covers the query as the dialect says: %s", async (query) => {
    const simulator = await under({ accountingDialect: { signature: { query } } });
    const target = "/accounting/bill-payments?page=1&limit=5";
    const [whole, bare] = [`GET${target}`, "GET/accounting/bill-payments"];
    const asked = async (message: string): Promise<number> =>
      (await ask(simulator, "/bill-payments?page=1&limit=5", { headers: signedByHand(message, nowMs) })).status;
    expect(await asked(query ? whole : bare)).toBe(200);
    expect(await asked(query ? bare : whole)).toBe(401);
  });

  test("is not required, until a test says so", async () => {
    const simulator = await under();
    expect((await ask(simulator, "/companies")).status).toBe(200);
    simulator.accounting.changeSettings({ requireSignature: true });
    expect((await ask(simulator, "/companies")).status).toBe(401);
    expect((await ask(simulator, "/companies", { headers: good })).status).toBe(200);
  });
});
