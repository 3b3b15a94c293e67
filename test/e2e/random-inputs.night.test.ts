import { WorkflowFailedError, type WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

import { NOT_FOR_PEOPLE } from "../../src/cli/test-support/random-calls.ts";
import { saleInputSchema } from "../../src/contract/schema/sale.ts";
import { FAILURES, type SaleInput, STATE_QUERY, type WorkflowState } from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { FULL_SIZE, PATIENCE_MS } from "../rig/patience.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const INPUTS = FULL_SIZE ? 10_000 : 3_000;
/** Most are refused; of those that are good so many are really started. */
const STARTED = FULL_SIZE ? 60 : 10;

const text = fc.string({ unit: "binary", maxLength: 60 });
const anything = fc.oneof(
  fc.jsonValue(),
  text,
  fc.constantFrom(undefined, Number.NaN, -1, 0, 1e13, "\uD800", "__proto__"),
);
/** Well formed, and served by no worker: only the workflow can know. */
const ELSEWHERE = {
  traderInvoiceNumber: "ELSEWHERE-1",
  connection: "pe",
  businessId: "biz_1",
  lines: [{ itemId: "item_delivery", quantity: 1 }],
};
const line = fc.record({
  itemId: fc.constant("item_delivery"),
  quantity: fc.integer({ min: 1, max: 9 }),
  unitPrice: fc.nat(500),
});

const good = fc.record(
  {
    traderInvoiceNumber: fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
    lines: fc.array(line, { minLength: 1, maxLength: 3 }),
    customer: fc.record({ name: fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }) }),
    saleDate: fc.constant("2026-11-21"),
    paymentTypeCode: fc.constantFrom("01", "02"),
    refundWindow: fc.constant("0"),
  },
  { requiredKeys: ["traderInvoiceNumber", "lines", "refundWindow"] },
);

/** A good sale with one to three fields of any kind, known ones and others. */
const spoiled = fc
  .tuple(
    good,
    fc.dictionary(
      fc.constantFrom("traderInvoiceNumber", "lines", "connection", "businessId", "branch", "saleDate", "stock", "x"),
      anything,
      { minKeys: 1, maxKeys: 3 },
    ),
  )
  .map(([sale, wrong]) => ({ ...sale, ...wrong }));

const input = fc.oneof(
  { weight: 1, arbitrary: good },
  { weight: 80, arbitrary: spoiled },
  { weight: 20, arbitrary: anything },
);

const NOT_VALID = /^The sale input is not valid:\n {2}\S/;
const NO_BUSINESS = /^The sale input is not valid:\n {2}businessId: expected a business, [^\n]*$/;

/**
 * Bad input names its fields. Good input is refused where its number belongs to another sale, and where neither it nor
 * the starter names a business.
 */
function isClearRefusal(error: unknown, raw: unknown, isGood: boolean): boolean {
  if (!(error instanceof Error) || NOT_FOR_PEOPLE.test(error.message)) return false;
  if (error.name === "SaleConflictError") return isGood && error.message.startsWith("The number ");
  if (error.name !== "InvalidInputError") return false;
  const { connection = "default", businessId } = { ...(raw as SaleInput) };
  if (isGood && (connection === "default" || businessId !== undefined)) return false;
  return (isGood ? NO_BUSINESS : NOT_VALID).test(error.message);
}

/**
 * The one end that a started sale may have besides its outcome: it names a connection that no worker serves, and says
 * so.
 */
async function saysWhatIsServed(handle: WorkflowHandle, connection: unknown): Promise<boolean> {
  const failure: unknown = await handle.result().catch((error: unknown) => error);
  const cause = failure instanceof WorkflowFailedError ? failure.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== FAILURES.invalidInput) return false;
  return cause.message.includes(`expected a configured connection ("default"), found "${String(connection)}"`);
}

describeWithTemporal(`the starter, for ${INPUTS} random inputs`, () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ receiver: false, env: { COMPLIANCE_BUSINESSES: "*" } });
  });
  afterAll(() => rig?.close());

  test("starts a sale, or refuses it with a readable message, and leaves no failed workflow", async () => {
    const started = new Map<string, unknown>();
    let refused = 0;
    const verdict = async (raw: unknown, isGood: boolean): Promise<string> => {
      try {
        const { workflowId } = await rig.starter.startSale(raw as SaleInput);
        started.set(workflowId, (raw as SaleInput).connection);
        return isGood ? "well" : `${workflowId} was started by bad input`;
      } catch (error) {
        refused += 1;
        return isClearRefusal(error, raw, isGood) ? "well" : `refused with ${String(error)}`;
      }
    };
    await fc.assert(
      fc.asyncProperty(input, async (raw) => {
        const isGood = saleInputSchema.safeParse(raw).success;
        if (isGood && started.size >= STARTED) return;
        expect(await verdict(raw, isGood)).toBe("well");
      }),
      // Those good ones that are not started any more come on top.
      { numRuns: INPUTS + INPUTS / 10, timeout: PATIENCE_MS, endOnFailure: true, examples: [[ELSEWHERE]] },
    );
    expect(refused + started.size).toBeGreaterThanOrEqual(INPUTS);
    expect(started.size).toBe(STARTED);

    const stuck = async (): Promise<string[]> => {
      const open: string[] = [];
      for (const [workflowId, connection] of started) {
        const handle = rig.client.workflow.getHandle(workflowId);
        const { status } = await handle.describe();
        const { attentions } = await handle.query<WorkflowState>(STATE_QUERY);
        const isWell =
          status.name === "COMPLETED" ||
          attentions.length > 0 ||
          (status.name === "FAILED" && (await saysWhatIsServed(handle, connection)));
        if (!isWell) open.push(`${workflowId} is ${status.name}`);
      }
      return open;
    };
    await expect.poll(stuck).toEqual([]);
  });

  test("finds no sale by a random number, and says so", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(text, fc.constant("\uDC00")), anything, async (invoice, request) => {
        const key = { invoice: `nobody ${invoice}` };
        const asked = [rig.starter.getSale(key), rig.starter.refund(key, request as never), rig.starter.retry(key)];
        for (const answer of await Promise.allSettled(asked)) {
          const error: unknown = answer.status === "rejected" ? answer.reason : undefined;
          expect(error).toMatchObject({ name: expect.stringMatching(/^(SaleNotFoundError|InvalidInputError)$/) });
          expect(String(error)).not.toMatch(NOT_FOR_PEOPLE);
        }
      }),
      { numRuns: FULL_SIZE ? 200 : 60, timeout: PATIENCE_MS },
    );
  });
});
