import { createServer } from "node:net";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { callCli, type CliResult } from "../cli/test-support/call-cli.ts";

describe("simulator", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-cli-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Runs it until it listens, then `meanwhile`, then asks it to stop. */
  async function simulate(flags: string[], meanwhile: (stdout: string) => Promise<void>): Promise<CliResult> {
    const stop = new AbortController();
    let said = "";
    let listening = (): void => undefined;
    const ready = new Promise<void>((resolve) => (listening = resolve));
    const onOutput = (text: string): void => {
      said += text;
      if (text.includes("Ctrl-C")) listening();
    };
    const running = callCli(["simulator", "--port", "0", ...flags], { signal: stop.signal, onOutput });
    await Promise.race([ready, running]);
    await meanwhile(said);
    stop.abort();
    return running;
  }

  test("says what a worker needs, serves, and ends with 0 when asked to", async () => {
    const { exitCode, stdout } = await simulate(["--json"], async (said) => {
      const url = /"url": "([^"]+)"/.exec(said)?.[1] ?? "";
      expect(await fetch(`${url}/v1/items`)).toMatchObject({ status: 401 });
    });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ env: { COMPLIANCE_API_KEY: "cmp_sk_test_simulator" } });
  });

  test("names the key and business of the scenario", async () => {
    const path = join(folder, "scenario.json");
    const business = { id: "shop", name: "Shop", branches: [{ id: "b", authorityBhfId: "00" }] };
    const application = { name: "a", keys: [{ key: "cmp_sk_test_shop" }] };
    await writeFile(path, JSON.stringify({ businesses: [business], applications: [application] }));
    const { exitCode, stdout } = await simulate(["--scenario", path], () => Promise.resolve());
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /export COMPLIANCE_API_KEY=cmp_sk_test_shop\nexport COMPLIANCE_BUSINESS_ID=shop\nexport ACCOUNTING_BASE_URL=http.+\/accounting\n/,
    );
  });

  test("names all businesses of a scenario of several", async () => {
    const path = join(folder, "businesses.json");
    const businesses = ["shop", "till"].map((id) => ({ id, name: id, branches: [{ id: "b", authorityBhfId: "00" }] }));
    await writeFile(path, JSON.stringify({ businesses }));
    const { stdout } = await simulate(["--scenario", path], () => Promise.resolve());
    expect(stdout).toContain("export COMPLIANCE_BUSINESS_ID=shop\nexport COMPLIANCE_BUSINESSES=shop,till\n");
  });

  test("with a wrong scenario it ends with 2 and names the path", async () => {
    const path = join(folder, "wrong.json");
    await writeFile(path, '{"items":[{"id":"x"}]}');
    const { exitCode, stderr } = await callCli(["simulator", "--port", "0", "--scenario", path]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("scenario.items[0].name");
  });

  test("on a port that is taken it ends with 1 and says so", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const address = taken.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { exitCode, stderr } = await callCli(["simulator", "--port", String(port)]);
    taken.close();
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      `The simulator cannot listen on 127.0.0.1, port ${port} (EADDRINUSE). Choose another with --port, or 0 for any that is free.\n`,
    );
  });
});
