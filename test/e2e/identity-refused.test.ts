import { afterAll, beforeAll, expect, test } from "vitest";
import { WorkflowFailedError, WorkflowNotFoundError } from "@temporalio/client";

import { MAIN_TASK_QUEUE, type WorkflowType } from "../../src/contract/index.ts";
import {
  type CorrectionRequest,
  createStarter,
  InvalidInputError,
  SaleNotFoundError,
  UnknownBusinessError,
  UnknownConnectionError,
} from "../../src/starter/index.ts";
import { keepRecord, recordOf } from "../../src/ledger/test-support/records.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { saleOfTea, salesOf, TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a start that is refused", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { startDirectly } = salesOf(() => rig);

  test("bad input is refused before anything is started", async () => {
    const refused = rig.starter.startSale({ traderInvoiceNumber: "", lines: [] });
    await expect(refused).rejects.toThrow(InvalidInputError);
    await expect(refused).rejects.toThrow(
      /traderInvoiceNumber: expected at least 1 character, found an empty text\n.*lines: expected at least one line/s,
    );
  });

  test("bad input started through Temporal fails once, with the same text, which its waiting caller receives", async () => {
    const handle = await startDirectly("sale/default/biz_1/DIRECT-BAD", {
      traderInvoiceNumber: "DIRECT-BAD",
      lines: [],
      colour: "red",
    });
    const failure = await handle.result().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    expect(failure).toMatchObject({
      cause: { type: "InvalidInput", nonRetryable: true, message: expect.stringContaining("colour: unknown field") },
    });
    await expect(rig.starter.outcome({ invoice: "DIRECT-BAD" })).rejects.toThrow(InvalidInputError);
    expect(await rig.starter.startSaleAndWait(saleOfTea("DIRECT-BAD"), { waitSeconds: 20 })).toMatchObject({
      outcome: { stage: "completed" },
    });
  });

  test("an unknown connection fails as bad input, and the error names the known ones", async () => {
    const elsewhere = { connection: "elsewhere", businessId: "biz_1" };
    const why = 'connection: expected a configured connection ("default"), found "elsewhere"';
    const refused = rig.starter.startSaleAndWait(saleOfTea("ELSEWHERE-1", elsewhere), { waitSeconds: 20 });
    await expect(refused).rejects.toThrow(why);
    // A caller who does not wait is told by the sale's state.
    const { workflowId } = await rig.starter.startSale(saleOfTea("ELSEWHERE-3", elsewhere));
    await rig.client.workflow
      .getHandle(workflowId)
      .result()
      .catch(() => undefined);
    expect(await rig.starter.getSale({ invoice: "ELSEWHERE-3", ...elsewhere })).toMatchObject({
      waitingFor: expect.stringMatching(
        /^nothing: its workflow failed \(.+\); nothing was sent: correct what was refused, /,
      ),
      closed: { status: "failed", reason: expect.stringContaining(why), refused: true },
    });
  });

  test("a starter that knows the connections refuses another one before anything starts", async () => {
    const starter = createStarter({ client: rig.client, businesses: { default: "biz_1" }, connections: ["default"] });
    const elsewhere = { connection: "elsewhere", businessId: "biz_1" };
    const refused = await starter.startSale(saleOfTea("ELSEWHERE-2", elsewhere)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UnknownConnectionError);
    expect(refused).toMatchObject({ code: "UnknownConnection", connections: ["default"] });
    const started = rig.client.workflow.getHandle(starter.workflowId({ invoice: "ELSEWHERE-2", ...elsewhere }));
    await expect(started.describe()).rejects.toThrow(WorkflowNotFoundError);
    const refund = { reason: "06", traderInvoiceNumber: "CN-ELSEWHERE" } as const;
    await expect(starter.refund({ invoice: "ELSEWHERE-2", ...elsewhere }, refund)).rejects.toThrow(
      UnknownConnectionError,
    );
  });

  const OTHER = { businessId: "biz_other" };
  const SYNC = { workflow: "syncPurchases", workflowId: "sync-purchases/default/biz_other", input: OTHER } as const;

  test.each<[WorkflowType, string, object]>([
    ["sale", "sale/default/biz_other/OTHER-1", { ...saleOfTea("OTHER-1"), ...OTHER }],
    ["registerItems", "register-items/default/biz_other", OTHER],
    ["syncPurchases", "sync-purchases/default/biz_other", OTHER],
    ["reconcile", "reconcile/default/biz_other", OTHER],
    ["scheduled", "scheduled/biz_other", { ...SYNC, ifRunning: "skip" }],
  ])("%s of a business that is not served fails once, and nothing is sent", async (type, workflowId, input) => {
    const { workflow } = rig.client;
    const handle = await workflow.start(type, { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [input] });
    const started = type === "scheduled" ? workflow.getHandle(SYNC.workflowId) : handle;
    if (type === "scheduled") await handle.result();
    const failure = await started.result().catch((error: unknown) => error);
    expect(failure).toMatchObject({ cause: { type: "UnknownBusiness", nonRetryable: true } });
    expect((failure as Error).cause).toMatchObject({
      message: expect.stringContaining('The business "biz_other" is not served through the connection "default"'),
      details: [{ businesses: ["biz_1"] }],
    });
    expect(rig.simulator.calls().filter(({ businessId }) => businessId === OTHER.businessId)).toEqual([]);
  });

  test("a business that is not served is told as such by a starter that does not know those that are", async () => {
    const refused = await rig.starter.startSaleAndWait(saleOfTea("OTHER-3", OTHER)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UnknownBusinessError);
    expect(refused).toMatchObject({ code: "UnknownBusiness", businesses: ["biz_1"] });
    expect(await rig.starter.getSale({ invoice: "OTHER-3", ...OTHER })).toMatchObject({ closed: { refused: true } });
  });

  test("the sales of a business that is no longer served can still be looked up, and nothing new begins", async () => {
    const servedBusinesses = { default: ["biz_1"] };
    const starter = createStarter({ client: rig.client, businesses: { default: "biz_1" }, servedBusinesses });
    const kept = { invoice: "KEPT-1", ...OTHER };
    const writer = { workflowId: starter.workflowId(kept), runId: "forgotten" };
    const record = { ...recordOf("KEPT-1"), movements: [] };
    await keepRecord(rig.ledger, { connection: "default", ...OTHER }, record, writer);
    expect(await starter.getSale(kept)).toMatchObject({ source: "ledger", stage: record.stage });
    const refund = { reason: "06", traderInvoiceNumber: "CN-KEPT" } as const;
    const correction: CorrectionRequest = {
      reason: "06",
      traderInvoiceNumber: "CN-KEPT",
      replaceWith: { traderInvoiceNumber: "KEPT-2", lines: [TEA] },
    };
    for (const begun of [
      starter.startSale(saleOfTea("KEPT-2", OTHER)),
      starter.refund(kept, refund),
      starter.correct(kept, correction),
    ])
      await expect(begun).rejects.toThrow(UnknownBusinessError);
    expect(await starter.correction(kept)).toBeUndefined();
  });

  test("a sale that was never started is not found", async () => {
    await expect(rig.starter.getSale({ invoice: "NEVER-1" })).rejects.toThrow(SaleNotFoundError);
    await expect(rig.starter.outcome({ invoice: "NEVER-1" })).rejects.toThrow(SaleNotFoundError);
    await expect(rig.starter.cancel({ invoice: "NEVER-1" }, { reason: "x" })).rejects.toThrow(SaleNotFoundError);
    await expect(
      rig.starter.refund({ invoice: "NEVER-1" }, { reason: "06", traderInvoiceNumber: "CN" }),
    ).rejects.toThrow(SaleNotFoundError);
  });

  test("a sale whose business nobody names is refused before anything is started", async () => {
    const unnamed = createStarter({ client: rig.client, businesses: { other: "biz_1" } });
    for (const call of [unnamed.startSale, unnamed.startSaleAndWait])
      await expect(call(saleOfTea("UNNAMED-1"))).rejects.toMatchObject({
        code: "InvalidInput",
        problems: [expect.stringMatching(/^businessId: expected a business, .+"default".+ found nothing$/)],
      });
    const nobody = rig.client.workflow.getHandle("sale/default/-/UNNAMED-1").describe();
    await expect(nobody).rejects.toThrow(WorkflowNotFoundError);
    const named = { ...saleOfTea("UNNAMED-1"), businessId: "biz_1" };
    expect(await unnamed.startSaleAndWait(named)).toMatchObject({ outcome: { stage: "completed" } });
  });
});
