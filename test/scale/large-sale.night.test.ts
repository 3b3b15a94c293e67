import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, Connection } from "@temporalio/client";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

import type { SaleInput, SaleOutcome } from "../../src/contract/index.ts";
import { type Simulator, startSimulator } from "../../src/dev/simulator/index.ts";
import { createStarter, type Starter } from "../../src/starter/index.ts";
import { askUntilAnswered } from "../faults/drive/ask-until-answered.ts";
import { ProductProcess } from "../faults/stack/product-process.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import { bookedIn, goods } from "../rig/goods.ts";
import { FULL_SIZE } from "../rig/patience.ts";
import { namespaceOf } from "../rig/namespace.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const LINES = FULL_SIZE ? 1_000 : 250;
/** Enough to be in the middle of. */
const SOME = FULL_SIZE ? 300 : LINES;
/** Three of its activity, three of the workflow task that takes its answer, and its share of the records of the run. */
const MOST_EVENTS_OF_MOVEMENT = 8;
/** A slow machine has taken more than five minutes. */
const LONGEST_MS = 900_000;

describeWithTemporal(`a sale of ${LINES} stock-tracked items`, () => {
  const namespace = namespaceOf(import.meta.filename);
  const workers: ProductProcess[] = [];
  let folder: string;
  let simulator: Simulator;
  let connection: Connection;
  let client: Client;
  let starter: Starter;
  let env: Record<string, string>;

  async function startWorker(): Promise<ProductProcess> {
    const logPath = join(folder, `worker-${workers.length}.log`);
    const worker = new ProductProcess({ main: MAIN, command: "worker", env, logPath, readyMessage: "serving" });
    workers.push(worker);
    if (!(await worker.ready)) throw new Error("the worker ended at its start");
    return worker;
  }

  beforeAll(async () => {
    if (!existsSync(MAIN)) throw new Error("this suite runs what is built: run `npm run build` first");
    folder = await mkdtemp(join(tmpdir(), "fiscalflow-scale-"));
    simulator = await startSimulator({ scenario: { items: goods(LINES) }, limitPerWindow: 1_000_000 });
    const address = inject("temporalAddress") ?? "";
    connection = await Connection.connect({ address });
    client = new Client({ connection, namespace });
    starter = createStarter({ client, businesses: { default: "biz_1" } });
    env = {
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      COMPLIANCE_BASE_URL: simulator.url,
      COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      LEDGER_URL: await freshDatabase(inject("ledgerServerUrl")),
      FISCALFLOW_TIMING_CALL_TIMEOUT_MS: "5000",
    };
  }, LONGEST_MS);
  afterAll(async () => {
    for (const worker of workers) {
      worker.signal("SIGKILL");
      await worker.ended;
    }
    await connection?.close();
    await simulator?.close();
    await rm(folder, { recursive: true });
  });

  const lines = goods(LINES).map(({ id }) => ({ itemId: id, quantity: 2, unitPrice: 100 }));
  const some = lines.slice(0, SOME);
  const booked = (number: string) => bookedIn(simulator, number);

  async function eventsOf(query: string): Promise<number[]> {
    const lengths: number[] = [];
    for await (const { historyLength } of client.workflow.list({ query: `${query} AND ExecutionStatus = "Completed"` }))
      lengths.push(historyLength);
    return lengths;
  }

  async function expectBounded(invoice: string, movements: number): Promise<void> {
    await expect.poll(() => eventsOf(`WorkflowType = "sale" AND FiscalInvoice = "${invoice}"`)).toHaveLength(1);
    const [own = 0] = await eventsOf(`WorkflowType = "sale" AND FiscalInvoice = "${invoice}"`);
    process.stderr.write(`${invoice}, ${movements} movements: ${own} events\n`);
    expect(own).toBeGreaterThan(0);
    expect(own).toBeLessThan(movements * MOST_EVENTS_OF_MOVEMENT);
  }

  /** How many there are of each purpose and state; an answer holds only the first of so many. */
  function movementsOf({ inAll }: SaleOutcome): Record<string, number> {
    const counts = inAll?.stockMovements ?? [];
    return Object.fromEntries(counts.map(({ purpose, state, count }) => [`${purpose} ${state}`, count]));
  }

  const resultOf = (workflowId: string): Promise<SaleOutcome> => {
    const handle = client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(workflowId);
    // A server on a busy machine gives a waiting client up now and then.
    return askUntilAnswered(client, new AbortController().signal, () => handle.result());
  };

  test(
    "moves each item once, and a refund returns each once, in bounded histories",
    async () => {
      await startWorker();
      const { workflowId } = await starter.startSale({
        traderInvoiceNumber: "ALL-1",
        lines,
        refundWindow: "1 hour",
      });
      await simulator.until(() => booked("ALL-1").size === LINES);
      await starter.refund({ invoice: "ALL-1" }, { reason: "06", traderInvoiceNumber: "CN-1", restock: true });
      const outcome = await resultOf(workflowId);
      expect(outcome).toMatchObject({ stage: "credited" });
      expect(movementsOf(outcome)).toEqual({ "sold applied": LINES, "restocked applied": LINES });
      expect([...booked("ALL-1").values(), ...booked("CN-1").values()]).toEqual(lines.flatMap(() => [1, 1]));
      await expectBounded("ALL-1", 2 * LINES);
    },
    LONGEST_MS,
  );

  test(
    "moves each item once although its worker is killed in the middle, and needs an operator only for unknown movements",
    async () => {
      const { workflowId } = await starter.startSale({
        traderInvoiceNumber: "KILLED-1",
        lines: some,
        refundWindow: "0",
      });
      await simulator.until(() => booked("KILLED-1").size >= SOME / 4);
      for (const worker of workers) worker.signal("SIGKILL");
      await startWorker();
      await simulator.until(() => booked("KILLED-1").size >= SOME - 5);
      const state = async () => await starter.getSale({ invoice: "KILLED-1" });
      const isOpen = ({ state: one }: { state: string }): boolean => one === "planned" || one === "sending";
      const moved = async () => {
        const { stockMovements, inAll } = await state();
        return inAll?.stockMovements ?? stockMovements;
      };
      await expect.poll(async () => (await moved()).some(isOpen)).toBe(false);
      for (const { code, subject: referenceId = "" } of (await state()).attentions) {
        expect(code).toBe("stock-unknown");
        const applied = booked("KILLED-1").has(referenceId);
        await starter.resolveStock({ invoice: "KILLED-1" }, { referenceId, applied, note: "compared with the books" });
      }
      expect(movementsOf(await resultOf(workflowId))).toEqual({ "sold applied": SOME });
      expect([...booked("KILLED-1").values()]).toEqual(some.map(() => 1));
      await expectBounded("KILLED-1", SOME);
    },
    LONGEST_MS,
  );
});
