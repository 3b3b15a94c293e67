import { afterAll, beforeAll, expect, test } from "vitest";
import { WorkflowFailedError, WorkflowNotFoundError } from "@temporalio/client";

import { MAIN_TASK_QUEUE, type SaleInput } from "../../src/contract/index.ts";
import {
  createStarter,
  InvalidInputError,
  SaleConflictError,
  SaleNotFoundError,
  UnknownConnectionError,
} from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { TEA } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("one document per number", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  function input(traderInvoiceNumber: string, more: Partial<SaleInput> = {}): SaleInput {
    return { traderInvoiceNumber, lines: [TEA], refundWindow: "0", ...more };
  }

  /** As another program would that knows nothing of the starter. */
  function startDirectly(workflowId: string, saleInput: unknown) {
    return rig.client.workflow.start("sale", { workflowId, taskQueue: MAIN_TASK_QUEUE, args: [saleInput] });
  }

  test("the same sale started many times at once is one sale, and every caller gets its receipt", async () => {
    const starts = Array.from({ length: 30 }, () => rig.starter.startSaleAndWait(input("MANY-1"), { waitSeconds: 20 }));
    const results = await Promise.all(starts);
    expect(results.filter(({ result }) => result === "started")).toHaveLength(1);
    expect(new Set(results.map(({ outcome }) => outcome?.receipt?.cuInvoiceNo)).size).toBe(1);
    expect(rig.simulator.documents("MANY-1")).toHaveLength(1);
  });

  test("the same sale started again after its end gives the finished one, whatever its options are", async () => {
    const first = await rig.starter.startSaleAndWait(input("AGAIN-1"), { waitSeconds: 20 });
    await rig.client.workflow.getHandle(first.workflowId).result();
    const again = await rig.starter.startSaleAndWait(input("AGAIN-1", { stock: "off", expectedTotal: 1 }), {
      waitSeconds: 20,
    });
    expect(again).toMatchObject({
      result: "known",
      outcome: { stage: "completed", sale: { id: first.outcome?.sale?.id } },
    });
  });

  test("a sale started under an id that is not its own is refused, and nothing is sent", async () => {
    const withoutBusiness = await startDirectly("sale/default/-/OWN-ID-1", input("OWN-ID-1"));
    await expect(withoutBusiness.result()).rejects.toMatchObject({
      cause: {
        message: expect.stringContaining(
          'workflow id: expected "sale/default/biz_1/OWN-ID-1", found "sale/default/-/OWN-ID-1". Name the business "biz_1"',
        ),
      },
    });
    const ofOther = await startDirectly("sale/default/biz_1/OWN-ID-2", input("OWN-ID-1"));
    await expect(ofOther.result()).rejects.toThrow(WorkflowFailedError);
    const note = { saleId: "sale_1", reason: "06", traderInvoiceNumber: "CN-OWN-ID" };
    const ofCreditNote = await rig.client.workflow.start("creditNote", {
      workflowId: "credit-note/default/-/sale_1",
      taskQueue: MAIN_TASK_QUEUE,
      args: [note],
    });
    await expect(ofCreditNote.result()).rejects.toThrow(WorkflowFailedError);
    expect(rig.simulator.documents("OWN-ID-1")).toEqual([]);
    const own = await rig.starter.startSaleAndWait(input("OWN-ID-1"), { waitSeconds: 20 });
    expect(own).toMatchObject({ result: "started", outcome: { stage: "completed" } });
    expect(rig.simulator.documents("OWN-ID-1")).toHaveLength(1);
  });

  test("a sale whose business nobody names is refused before anything is started", async () => {
    const unnamed = createStarter({ client: rig.client, businesses: { other: "biz_1" } });
    for (const call of [unnamed.startSale, unnamed.startSaleAndWait])
      await expect(call(input("UNNAMED-1"))).rejects.toMatchObject({
        code: "InvalidInput",
        problems: [expect.stringMatching(/^businessId: expected a business, .+"default".+ found nothing$/)],
      });
    const nobody = rig.client.workflow.getHandle("sale/default/-/UNNAMED-1").describe();
    await expect(nobody).rejects.toThrow(WorkflowNotFoundError);
    const named = { ...input("UNNAMED-1"), businessId: "biz_1" };
    expect(await unnamed.startSaleAndWait(named)).toMatchObject({ outcome: { stage: "completed" } });
  });

  test("the same number with other content is a conflict that names what differs", async () => {
    await rig.starter.startSaleAndWait(input("CONFLICT-1"), { waitSeconds: 20 });
    const other = input("CONFLICT-1", { customer: { name: "Otieno" }, lines: [{ ...TEA, quantity: 3 }] });
    const refused = rig.starter.startSaleAndWait(other, { waitSeconds: 20 });
    await expect(refused).rejects.toThrow(SaleConflictError);
    await expect(refused).rejects.toThrow(
      /What differs: the customer \(name\); line 1: quantity 3, before \d+\. Nothing was started\./,
    );
    expect(rig.simulator.documents("CONFLICT-1")).toHaveLength(1);
  });

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
    expect(await rig.starter.startSaleAndWait(input("DIRECT-BAD"), { waitSeconds: 20 })).toMatchObject({
      outcome: { stage: "completed" },
    });
  });

  test("an unknown connection fails as bad input, and the error names the known ones", async () => {
    const elsewhere = { connection: "elsewhere", businessId: "biz_1" };
    const why = 'connection: expected a configured connection ("default"), found "elsewhere"';
    const refused = rig.starter.startSaleAndWait(input("ELSEWHERE-1", elsewhere), { waitSeconds: 20 });
    await expect(refused).rejects.toThrow(why);
    // Whoever does not wait is told by the sale's state.
    const { workflowId } = await rig.starter.startSale(input("ELSEWHERE-3", elsewhere));
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
    const refused = await starter.startSale(input("ELSEWHERE-2", elsewhere)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UnknownConnectionError);
    expect(refused).toMatchObject({ code: "UnknownConnection", connections: ["default"] });
    const started = rig.client.workflow.getHandle(starter.workflowId({ invoice: "ELSEWHERE-2", ...elsewhere }));
    await expect(started.describe()).rejects.toThrow(WorkflowNotFoundError);
    const refund = { reason: "06", traderInvoiceNumber: "CN-ELSEWHERE" } as const;
    await expect(starter.refund({ invoice: "ELSEWHERE-2", ...elsewhere }, refund)).rejects.toThrow(
      UnknownConnectionError,
    );
  });

  test("a start through Temporal with good input works as through the starter", async () => {
    const handle = await startDirectly(rig.starter.workflowId({ invoice: "DIRECT-1" }), input("DIRECT-1"));
    expect(await handle.result()).toMatchObject({ stage: "completed" });
    const waited = await rig.starter.startSaleAndWait(input("DIRECT-1"), { waitSeconds: 20 });
    expect(waited).toMatchObject({ result: "known", outcome: { stage: "completed" } });
  });

  test("more callers can wait for one sale than Temporal admits updates", async () => {
    rig.simulator.setAuthority("CROWD-1", [{ do: "down" }]);
    await rig.starter.startSale(input("CROWD-1"));
    await rig.stateWhen("CROWD-1", ({ stage }) => stage === "awaiting-authority");
    const waiting = Array.from({ length: 40 }, () =>
      rig.starter.startSaleAndWait(input("CROWD-1"), { waitSeconds: 20 }),
    );
    rig.simulator.setAuthority("CROWD-1", [{ do: "accept" }]);
    const outcomes = await Promise.all(waiting);
    expect(outcomes.every(({ outcome }) => outcome?.stage === "completed")).toBe(true);
  });

  test("a caller whose wait ends first receives the stage reached, and can wait again", async () => {
    rig.simulator.setAuthority("IMPATIENT-1", [{ do: "down" }]);
    await rig.starter.startSale(input("IMPATIENT-1"));
    await rig.stateWhen("IMPATIENT-1", ({ stage }) => stage === "awaiting-authority");
    const { outcome } = await rig.starter.startSaleAndWait(input("IMPATIENT-1"), { waitSeconds: 1 });
    expect(outcome).toMatchObject({ stage: "awaiting-authority", receipt: null });
    const waiting = rig.starter.outcome({ invoice: "IMPATIENT-1" }, { waitSeconds: 20 });
    rig.simulator.setAuthority("IMPATIENT-1", [{ do: "accept" }]);
    expect(await waiting).toMatchObject({ stage: "completed", receipt: { receiptLabel: "NS" } });
  });

  test("a sale that was never started is not found", async () => {
    await expect(rig.starter.getSale({ invoice: "NEVER-1" })).rejects.toThrow(SaleNotFoundError);
    await expect(rig.starter.outcome({ invoice: "NEVER-1" })).rejects.toThrow(SaleNotFoundError);
    await expect(rig.starter.cancel({ invoice: "NEVER-1" }, { reason: "x" })).rejects.toThrow(SaleNotFoundError);
    await expect(
      rig.starter.refund({ invoice: "NEVER-1" }, { reason: "06", traderInvoiceNumber: "CN" }),
    ).rejects.toThrow(SaleNotFoundError);
  });
});
