import { setTimeout as delay } from "node:timers/promises";
import { WithStartWorkflowOperation } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";

import {
  MAIN_TASK_QUEUE,
  type RefundRequest,
  type SaleInput,
  type SaleOutcome,
  UPDATES,
  WORKFLOW_TYPES,
} from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { FULL_SIZE } from "../rig/patience.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { BUSINESS } from "../rig/views-of.ts";
import { findingsIn } from "../rig/findings-in.ts";

const SALES = FULL_SIZE ? 1_000 : 48;
/** Few, so that what is measured is the moment of closing, and no queue. */
const AT_ONCE = 8;
const WAIT_SECONDS = 20;
const SALE_MS = 600;

/** When a run closes, and how long after the sale's completion a refund meets that moment. */
interface Moment {
  readonly at: string;
  readonly input: Partial<SaleInput>;
  /** A first guess: see {@link STEP_MS}. */
  afterMs: number;
}
const MOMENTS: readonly Moment[] = [
  { at: "as its caller has the receipt", input: { stock: "off" }, afterMs: 0 },
  { at: "with its last stock movement", input: {}, afterMs: 50 },
  { at: "with its refund window", input: { refundWindow: "400ms" }, afterMs: 420 },
];
/** A refund that the run still took is followed by a later one, and one that came too late by an earlier one. */
const STEP_MS = 10;

interface Closing {
  readonly invoice: string;
  readonly moment: Moment;
  /** Of the credit notes that are asked for, each by somebody else. */
  readonly numbers: readonly string[];
  readonly restock: boolean;
}

const CLOSINGS = Array.from({ length: SALES }, (_, n): Closing => {
  const invoice = `CLOSING-${n}`;
  const moment = MOMENTS[n % MOMENTS.length] as Moment;
  const numbers = n % 4 === 3 ? [`CN-${invoice}-A`, `CN-${invoice}-B`] : [`CN-${invoice}`];
  return { invoice, moment, numbers, restock: moment.input.stock !== "off" && n % 5 < 3 };
});

describeWithTemporal(`${SALES} sales that are refunded as they close`, () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false });
  });
  afterAll(() => rig?.close());
  const { start, handleOf } = salesOf(() => rig);

  /** What each refund came to, by its credit note's number: the stage, or how it was refused. */
  const answers = new Map<string, string>();
  const tookMs: number[] = [];
  /** How many runs it took, by the sale. */
  const runs = new Map<string, number>();

  /** As Temporal's command line does, which does not look before what there is. */
  async function refundByHand(invoice: string, request: RefundRequest): Promise<SaleOutcome> {
    return await rig.client.workflow.executeUpdateWithStart(UPDATES.refund, {
      args: [{ ...request, waitSeconds: WAIT_SECONDS }],
      startWorkflowOperation: new WithStartWorkflowOperation(WORKFLOW_TYPES.sale, {
        workflowId: handleOf(invoice).workflowId,
        workflowIdConflictPolicy: "USE_EXISTING",
        taskQueue: MAIN_TASK_QUEUE,
        args: [{ ...BUSINESS, traderInvoiceNumber: invoice }],
      }),
    });
  }

  async function ask({ invoice, restock }: Closing, number: string, byHand: boolean): Promise<void> {
    const request: RefundRequest = { reason: "06", traderInvoiceNumber: number, restock };
    const askedAtMs = performance.now();
    const asked = byHand
      ? refundByHand(invoice, request)
      : rig.starter.refund({ invoice }, request, { waitSeconds: WAIT_SECONDS });
    answers.set(number, await asked.then(({ stage }) => stage, wordOf));
    tookMs.push(performance.now() - askedAtMs);
  }

  async function sellAndRefund(closing: Closing, n: number): Promise<void> {
    const { invoice, moment, numbers } = closing;
    await start(invoice, moment.input);
    const { runId } = await handleOf(invoice).describe();
    const outcome = await rig.starter.outcome({ invoice }, { waitSeconds: WAIT_SECONDS });
    expect(outcome).toMatchObject({ stage: "completed" });
    await delay(moment.afterMs);
    await Promise.all(numbers.map((number, at) => ask(closing, number, (n + at) % 2 === 0)));
    await handleOf(invoice).result();
    const wasOpen = (await handleOf(invoice).describe()).runId === runId;
    runs.set(invoice, wasOpen ? 1 : 2);
    moment.afterMs = Math.max(0, moment.afterMs + (wasOpen ? STEP_MS : -STEP_MS));
  }

  test(
    "get one credit note each, and every refund is answered",
    async () => {
      const left = [...CLOSINGS.entries()];
      const till = async (): Promise<void> => {
        for (let next = left.shift(); next; next = left.shift()) await sellAndRefund(next[1], next[0]);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, till));
      expect(answers.size).toBe(CLOSINGS.reduce((sum, { numbers }) => sum + numbers.length, 0));
      const isCredited = (number: string): boolean => answers.get(number) === "credited";
      const odd = CLOSINGS.flatMap(({ numbers }) => {
        const conflicts = numbers.filter((number) => answers.get(number) === "Conflict");
        const isOne = numbers.filter(isCredited).length === 1 && conflicts.length === numbers.length - 1;
        return isOne ? [] : numbers.map((number) => `${number}: ${answers.get(number)}`);
      });
      expect(odd).toEqual([]);

      const { documents, movements } = rig.simulator.books();
      const inBooks = CLOSINGS.map(({ invoice, numbers }) => {
        const own = new Set([invoice, ...numbers]);
        return {
          documents: documents.flatMap(({ traderInvoiceNumber: number }) => (own.has(number) ? [number] : [])),
          moved: movements.flatMap(({ referenceId, action }) =>
            own.has(referenceId?.split("/")[0] ?? "") ? [action] : [],
          ),
        };
      });
      expect(inBooks).toEqual(
        CLOSINGS.map(({ invoice, moment, numbers, restock }) => ({
          documents: [invoice, ...numbers.filter(isCredited)],
          moved: [...(moment.input.stock === "off" ? [] : ["DEDUCT"]), ...(restock ? ["ADD"] : [])],
        })),
      );
      expect(await findingsIn(rig.ledger)).toEqual([]);
    },
    60_000 + SALES * SALE_MS,
  );

  test("meet runs that are still open, and others that have closed", () => {
    const counted = MOMENTS.map((moment) => {
      const all = CLOSINGS.filter((one) => one.moment === moment).map(({ invoice }) => runs.get(invoice));
      const [still, next] = [1, 2].map((count) => all.filter((n) => n === count).length);
      return `${moment.at}: ${still} by the run that was closing, ${next} by the next one`;
    });
    const sorted = tookMs.toSorted((one, other) => one - other).map(Math.round);
    const [median, slowest] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
    process.stderr.write(
      `${counted.join("\n")}\nanswers: ${sorted.length}, median ${median} ms, slowest ${slowest} ms\n`,
    );
    expect(new Set(runs.values())).toEqual(new Set([1, 2]));
  });
});

function wordOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && typeof error.code === "string") return error.code;
  const { cause } = error;
  if (cause instanceof Error && "type" in cause) return String(cause.type);
  return `${error.name}: ${error.message}`;
}
