import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { callCli } from "../../src/cli/test-support/call-cli.ts";
import { saleContent } from "../../src/contract/index.ts";
import { openLedger } from "../../src/ledger/index.ts";
import { documentOf, keepRecord, recordOf } from "../../src/ledger/test-support/records.ts";
import type { DevServer } from "../../src/servers/start-dev-server.ts";
import { BackedUpServer, POSTGRES_TOOLS } from "../faults/stack/backed-up-server.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { startOwnServer } from "../rig/own-server.ts";
import { FULL_SIZE } from "../rig/patience.ts";

const SALES = FULL_SIZE ? 340 : 20;
const PIN = "A000000007Z";
const CUSTOMER = { name: "Njeri Wanjohi", pin: PIN, phone: "+254700000007" };

const describeWithTools = POSTGRES_TOOLS === undefined && !process.env["CI"] ? describe.skip : describeWithTemporal;

/** `docs/privacy.md`, "Erasing a customer". */
describeWithTools("an erased customer", () => {
  let folder: string;
  let server: BackedUpServer;
  let temporal: DevServer;
  let env: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-erased-"));
    server = await BackedUpServer.start(folder);
    temporal = await startOwnServer();
    env = { LEDGER_URL: server.url, LEDGER_OWNER_URL: server.ownerUrl, TEMPORAL_ADDRESS: temporal.address };
    const { url, ownerUrl } = server;
    const ledger = openLedger({ url, ownerUrl, home: "/nowhere", operationTimeoutMs: 15_000 });
    await ledger.ready();
    for (let n = 1; n <= SALES; n++) {
      const number = `INV-${n}`;
      const date = "2015-03-02";
      const lines = [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }];
      const content = saleContent({ traderInvoiceNumber: number, customer: CUSTOMER, lines }, undefined);
      const document = documentOf(number, { customer: CUSTOMER, saleDate: date });
      const business = { connection: "default", businessId: "biz_1" };
      await keepRecord(ledger, business, recordOf(number, { content, date, document }));
    }
    await ledger.close();
  });
  afterAll(async () => {
    await temporal?.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const ledger = (...argv: string[]) => callCli(["ledger", ...argv], { env });
  /** Lines of a dump of all that the database has. */
  function linesThatName(): number {
    const dump = execFileSync(join(POSTGRES_TOOLS ?? "", "pg_dump"), [`--dbname=${server.ownerUrl}`, "--inserts"], {
      encoding: "utf8",
      maxBuffer: 1 << 30,
    });
    return dump.split("\n").filter((line) => Object.values(CUSTOMER).some((value) => line.includes(value))).length;
  }

  test("is in no dump any more, and an older one that is restored is erased again", async () => {
    const file = join(folder, "erasures.jsonl");
    const before = linesThatName();
    expect(before).toBeGreaterThan(SALES);
    await server.backUp("dump");

    const erased = await ledger("erase", "--customer-pin", PIN, "--erasures", file);
    expect(erased).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${SALES} sales (`) });
    expect(linesThatName()).toBe(0);
    expect(await ledger("verify", "--erasures", file)).toMatchObject({ exitCode: 0 });

    await server.restore("dump");
    expect(linesThatName()).toBe(before);
    const restored = await ledger("restored", "--lossless", "--erasures", file);
    expect(restored).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${SALES} documents lost again`) });
    expect(linesThatName()).toBe(0);
    expect(await ledger("verify", "--erasures", file)).toMatchObject({ exitCode: 0 });
  });
});
