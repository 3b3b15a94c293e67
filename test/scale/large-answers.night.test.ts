import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { pipeline, Readable } from "node:stream";
import { fileURLToPath } from "node:url";

import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import { sampleItem, sampleSale } from "../../src/compliance/test-support/samples.ts";
import {
  respondJson,
  type SeenRequest,
  startStubServer,
  type StubServer,
} from "../../src/http/test-support/stub-server.ts";
import { createStarter, NoAnswerError, type Starter } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import { namespaceOf } from "../rig/namespace.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const MIB = 1024 * 1024;
const LARGE_BYTES = 60 * MIB;
const LARGE_LISTS = 16;
const MOST_BYTES = 600 * MIB;

const large = Array.from({ length: LARGE_LISTS }, (_, index) => `biz_large_${index + 1}`);
const SMALL = "biz_small";
const [FIRST_ITEM, FILLER] = [JSON.stringify(sampleItem()), `,${JSON.stringify(sampleItem({ id: "itm_other" }))}`];
/** Wide enough that the request budget keeps nothing back. */
const QUOTA = { "x-ratelimit-limit": "6000", "x-ratelimit-remaining": "5900", "x-ratelimit-reset": "30" };
const FILLERS = Buffer.from(FILLER.repeat(1_000));

/** A list of items whose answer has the given size, written as fast as it is read. */
function giveList(response: ServerResponse, bytes: number): void {
  function* text() {
    yield `{"data":{"items":[${FIRST_ITEM}`;
    for (let written = 0; written < bytes; written += FILLERS.length) yield FILLERS;
    yield "]}}";
  }
  response.writeHead(200, { "content-type": "application/json", ...QUOTA });
  // The worker may end it.
  pipeline(Readable.from(text()), response, () => {});
}

function giveSale(response: ServerResponse, { body }: SeenRequest): void {
  const { traderInvoiceNumber, saleDate } = JSON.parse(body) as { traderInvoiceNumber: string; saleDate: string };
  const sale = sampleSale({ id: traderInvoiceNumber, traderInvoiceNumber, saleDate, customer: null });
  respondJson(response, 201, { data: { sale } }, QUOTA);
}

describeWithTemporal(`${LARGE_LISTS} answers of ${LARGE_BYTES / MIB} MiB at once`, () => {
  let service: StubServer;
  let worker: ChildProcess;
  let connection: Connection;
  let starter: Starter;
  /** Lists of the large businesses that were asked for, and are held until all were. */
  const held: (() => void)[] = [];
  let asked = 0;

  beforeAll(async () => {
    service = await startStubServer((response, request) => {
      const url = new URL(request.target, "http://service.invalid");
      const businessId = url.searchParams.get("businessId") ?? "";
      if (url.pathname === "/v1/businesses")
        respondJson(
          response,
          200,
          { data: { businesses: [...large, SMALL].map((id) => ({ id, branches: [] })) } },
          QUOTA,
        );
      else if (url.pathname === "/v1/items" && businessId === SMALL) giveList(response, 0);
      else if (url.pathname === "/v1/items") {
        asked += 1;
        held.push(() => giveList(response, LARGE_BYTES));
      } else if (request.method === "POST") giveSale(response, request);
      else respondJson(response, 404, {});
      if (asked >= LARGE_LISTS) for (const give of held.splice(0)) give();
    });
    const address = inject("temporalAddress") ?? "";
    const namespace = namespaceOf(import.meta.filename);
    worker = spawn(process.execPath, [MAIN, "worker"], {
      env: {
        PATH: process.env["PATH"],
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: namespace,
        COMPLIANCE_BASE_URL: service.baseUrl,
        COMPLIANCE_API_KEY: "cmp_sk_test_large-answers",
        COMPLIANCE_BUSINESS_ID: SMALL,
        COMPLIANCE_BUSINESSES: [SMALL, ...large].join(","),
        LEDGER_URL: await freshDatabase(inject("ledgerServerUrl")),
      },
      stdio: ["ignore", "inherit", "pipe"],
    });
    const serving = new Promise<void>((resolve) => {
      if (worker.stderr)
        createInterface(worker.stderr).on("line", (line) => {
          if (line.includes('"serving"')) resolve();
        });
    });
    connection = await Connection.connect({ address });
    const client = new Client({ connection, namespace });
    starter = createStarter({ client, businesses: { default: SMALL }, connections: ["default"] });
    await serving;
  });
  afterAll(async () => {
    if (worker?.exitCode === null) worker.kill("SIGKILL");
    await connection?.close();
    await service?.close();
  });

  function saleOf(businessId: string, traderInvoiceNumber: string) {
    const lines = [{ itemId: "itm_1", quantity: 2, unitPrice: 116 }];
    return { businessId, traderInvoiceNumber, lines, stock: "off", refundWindow: "0" } as const;
  }

  async function stageOf(businessId: string, traderInvoiceNumber: string): Promise<string> {
    for (;;) {
      try {
        const sale = saleOf(businessId, traderInvoiceNumber);
        const { outcome } = await starter.startSaleAndWait(sale, { waitSeconds: 20 });
        if (outcome.attention) return outcome.attention.code;
        if (outcome.stage === "completed") return outcome.stage;
      } catch (error) {
        // A machine that is busy with other things may be slow to answer.
        if (!(error instanceof NoAnswerError)) throw error;
      }
    }
  }

  /** The most that the process had in memory at any moment. */
  async function peakBytes(): Promise<number> {
    const status = await readFile(`/proc/${worker.pid}/status`, "utf8");
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  test("leave the worker small, hold up no sale whose answers are short, and each is read in the end", async () => {
    expect(await stageOf(SMALL, "INV-0")).toBe("completed");
    await Promise.all(large.map((businessId) => starter.startSale(saleOf(businessId, "INV-1"))));
    await expect.poll(() => asked).toBeGreaterThanOrEqual(LARGE_LISTS);
    const startedAtMs = Date.now();
    const waits: number[] = [];
    const small = async () => {
      for (let number = 1; number <= 3; number++) {
        const sentAtMs = Date.now();
        expect(await stageOf(SMALL, `INV-${number}`)).toBe("completed");
        waits.push(Date.now() - sentAtMs);
      }
    };
    let read = 0;
    let readBeforeSmall = 0;
    const readLarge = async (businessId: string) => {
      expect(await stageOf(businessId, "INV-1")).toBe("completed");
      read += 1;
    };
    await Promise.all([...large.map(readLarge), small().then(() => (readBeforeSmall = read))]);
    expect(readBeforeSmall).toBeLessThan(LARGE_LISTS);
    const peak = await peakBytes();
    process.stderr.write(
      `${LARGE_LISTS} lists of 60 MiB: all read after ${Math.round((Date.now() - startedAtMs) / 1_000)} s with ` +
        `${asked} requests; the worker took at most ${Math.round(peak / MIB)} MiB; ` +
        `small sales took ${waits.join(", ")} ms\n`,
    );
    expect(peak).toBeLessThan(MOST_BYTES);
  });
});
