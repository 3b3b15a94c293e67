import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type Simulator, startSimulator } from "../../dev/simulator/index.ts";
import { callCli, type CliResult, NO_TEMPORAL } from "../test-support/call-cli.ts";

const DIALECT = {
  identity: { method: "GET", path: "/v1/me" },
  lookups: { method: "GET", path: "/v1/codes" },
  createItem: { method: "POST", path: "/v1/items", fields: { name: "title" } },
};

describe("operations that the API's document only names", () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({ dialect: DIALECT });
  });
  afterAll(() => simulator.close());

  function call(argv: string[], { stdin = "", dialect = DIALECT as object } = {}): Promise<CliResult> {
    return callCli(argv, {
      stdin,
      env: {
        ...NO_TEMPORAL,
        COMPLIANCE_BASE_URL: simulator.url,
        COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
        COMPLIANCE_BUSINESS_ID: "biz_1",
        COMPLIANCE_DIALECT: JSON.stringify(dialect),
      },
    });
  }
  const callsOf = (operation: string) => simulator.calls().filter((one) => one.operation === operation).length;

  test("identity prints what the service says of the key", async () => {
    const { exitCode, stdout, stderr } = await call(["identity"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ data: { environment: "sandbox" } });
  });

  test("lookups prints the list, and takes a name only where the dialect's path has a place for it", async () => {
    expect(JSON.parse((await call(["lookups"])).stdout)).toEqual({ data: { codes: [] } });
    const named = await call(["lookups", "units"]);
    expect([named.exitCode, named.stderr]).toEqual([2, expect.stringContaining("no {id} for a name")]);
    const dialect = { lookups: { method: "GET", path: "/v1/codes/{id}" } };
    const unnamed = await call(["lookups"], { dialect });
    expect([unnamed.exitCode, unnamed.stderr]).toEqual([2, expect.stringContaining("in place of {id}")]);
    await call(["lookups", "units"], { dialect });
    expect(simulator.calls().at(-1)).toMatchObject({ path: "/v1/codes/units" });
  });

  test("items create sends the fields under the dialect's names, once", async () => {
    const stdin = JSON.stringify({ name: "Pen", unitPrice: 20 });
    const { exitCode, stdout } = await call(["items", "create", "-"], { stdin });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ data: { item: { name: "Pen", registrationStatus: "PENDING" } } });
    expect(callsOf("createItem")).toBe(1);
  });

  test("items create does not repeat a call whose answer was lost, and says that its outcome is unknown", async () => {
    const before = callsOf("createItem");
    simulator.inject({ operation: "createItem", when: "after", kind: "drop", times: 1 });
    const lost = await call(["items", "create", "-"], { stdin: '{"name":"Lost","unitPrice":1}' });
    expect([lost.exitCode, lost.stdout]).toEqual([1, ""]);
    expect(lost.stderr).toContain("It is not known whether the item was created");
    expect(callsOf("createItem")).toBe(before + 1);
    const refused = await call(["items", "create", "-"], { stdin: '{"unitPrice":1}' });
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("HTTP 400 invalid_request")]);
    const list = await call(["items", "create", "-"], { stdin: "[]" });
    expect([list.exitCode, list.stderr]).toEqual([2, expect.stringContaining("expected a JSON object")]);
  });

  test.each([
    [["identity"], "identity"],
    [["lookups"], "lookups"],
    [["items", "create", "-"], "createItem"],
  ])("%j is a wrong configuration where the dialect does not describe it", async (argv, name) => {
    const off = await call(argv, { dialect: {}, stdin: "{}" });
    expect(off).toMatchObject({ exitCode: 2, stdout: "" });
    expect(off.stderr).toContain(`${name} is off`);
    expect(off.stderr).toContain(`COMPLIANCE_DIALECT: {"${name}":`);
  });
});
