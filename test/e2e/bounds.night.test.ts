import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput, SaleOutcome } from "../../src/contract/index.ts";
import { SaleConflictError } from "../../src/starter/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { viewsOf } from "../rig/views-of.ts";

describeWithTemporal("a sale's automatic repetition", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ timings: { resubmissions: 1, resubmissionWindowMs: 50 } });
  });
  afterAll(() => rig?.close());

  const { start, onHand } = salesOf(() => rig);

  test("of a resubmission is bounded even if the list of items never shows the correction", async () => {
    rig.simulator.setAuthority("LAGGING-1", [{ do: "reject", reason: "its own" }]);
    const [tea] = (
      (await (
        await fetch(`${rig.simulator.url}/v1/items?businessId=biz_1`, {
          headers: { "x-api-key": "cmp_sk_test_simulator" },
        })
      ).json()) as { data: { items: Record<string, unknown>[] } }
    ).data.items.filter(({ id }) => id === "item_tea");
    const body = { data: { items: [{ ...tea, registrationStatus: "PENDING" }] } };
    const removeFault = rig.simulator.inject({
      operation: "listItems",
      when: "after",
      kind: "status",
      status: 200,
      body,
    });
    const handle = await start("LAGGING-1");
    await rig.stateWhen("LAGGING-1", ({ attentions }) => attentions[0]?.code === "rejected");
    // The creation, once at once after the correction, and the one automatic resubmission.
    expect(rig.simulator.documents("LAGGING-1")).toMatchObject([{ submissions: 3 }]);
    removeFault();
    rig.simulator.setAuthority("LAGGING-1", [{ do: "accept" }]);
    await rig.starter.retry({ invoice: "LAGGING-1" });
    expect(await handle.result()).toMatchObject({ stage: "completed" });
  });

  test("does not cover a refund: another is possible after one was given up, and not while one runs", async () => {
    const handle = await start("NOTES-1");
    await handle.result();
    const sale = { invoice: "NOTES-1" };
    rig.simulator.setAuthority("CN-NOTES-1", [{ do: "reject", reason: "no" }]);
    const first = await rig.starter.refund(
      sale,
      { reason: "06", traderInvoiceNumber: "CN-NOTES-1" },
      { waitSeconds: 20 },
    );
    expect(first).toMatchObject({ attention: { code: "rejected" } });
    const second = { reason: "06", traderInvoiceNumber: "CN-NOTES-2" } as const;
    await expect(rig.starter.refund(sale, second)).rejects.toThrow(SaleConflictError);
    await rig.starter.cancel(sale, { reason: "mistyped" });
    expect(await rig.starter.refund(sale, second, { waitSeconds: 20 })).toMatchObject({
      stage: "credited",
      creditNote: { traderInvoiceNumber: "CN-NOTES-2" },
    });
  });

  test("does not return goods for somebody else's credit note", async () => {
    const handle = await start("FOREIGN-1", { refundWindow: "1 hour" });
    const { document } = await rig.stateWhen(
      "FOREIGN-1",
      ({ stockMovements }) => stockMovements[0]?.state === "applied",
    );
    const before = onHand();
    const url = `${rig.simulator.url}/v1/credit-notes?businessId=biz_1`;
    const headers = { "x-api-key": "cmp_sk_test_simulator", "content-type": "application/json" };
    const body = { traderInvoiceNumber: "CN-FOREIGN", returnDate: "2026-11-21", saleId: document?.id, reason: "06" };
    await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    const request = { reason: "06", traderInvoiceNumber: "CN-OURS", restock: true } as const;
    await rig.starter.refund({ invoice: "FOREIGN-1" }, request, { waitSeconds: 20 });
    const answer = { code: "already-credited", note: "the back office did it" } as const;
    await rig.starter.acknowledge({ invoice: "FOREIGN-1" }, answer);
    expect(await handle.result()).toMatchObject({ stage: "credited" });
    expect(onHand()).toBe(before);
  });
});

describeWithTemporal("the outcome updates of a sale", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());
  const { fiscalflow } = viewsOf(() => rig);

  const MOST_OUTCOMES = 1_800;
  const AT_ONCE = 10;
  const LONG_MS = 600_000;
  /** A worker that no longer has the run reads all of it first: on a busy machine a caller has to ask again. */
  const PATIENTLY = { timeout: PATIENCE_MS };

  test(
    "are answered 1,800 times in one run; then the state query and an operator's updates still work",
    async () => {
      const invoice = "ASKED-1";
      const lines = [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }];
      const { workflowId } = await rig.starter.startSale({
        traderInvoiceNumber: invoice,
        lines,
        refundWindow: "1 hour",
      });
      const handle = rig.client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(workflowId);
      await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
      const ask = () => handle.executeUpdate<SaleOutcome, [object]>("outcome", { args: [{ waitSeconds: 0 }] });
      for (let asked = 0; asked < MOST_OUTCOMES; asked += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, ask));
      const refused = await ask().catch((error: { cause: Error }) => error.cause.message);
      expect(refused).toMatch(/asked for its outcome 1800 times.*Ask the query state/);
      expect(refused).toMatch(/allowed updates: refund\.$/);
      await expect
        .poll(() => rig.starter.outcome({ invoice }, { waitSeconds: 0 }), PATIENTLY)
        .toMatchObject({ stage: "completed" });
      const refund = { reason: "06", traderInvoiceNumber: "CN-ASKED-1" } as const;
      expect(await rig.starter.refund({ invoice }, refund)).toMatchObject({ stage: expect.stringMatching(/^credit/) });
      expect(await handle.result()).toMatchObject({ stage: "credited" });
    },
    LONG_MS,
  );

  test(
    "are answered until the answers have 25 MB, whatever their number",
    async () => {
      const invoice = "ASKED-2";
      const line = { itemId: "item_tea", quantity: 1, unitPrice: 350 };
      const lines = Array.from({ length: 200 }, () => line);
      await rig.starter.startSale({ traderInvoiceNumber: invoice, lines, refundWindow: "1 hour" });
      await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
      const handle = rig.client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(
        rig.starter.workflowId({ invoice }),
      );
      let refused: string | undefined;
      let asked = 0;
      for (; refused === undefined; asked++)
        refused = await handle
          .executeUpdate<SaleOutcome, [object]>("outcome", { args: [{ waitSeconds: 0 }] })
          .then(() => undefined)
          .catch((error: { cause: Error }) => error.cause.message);
      expect(asked).toBeLessThan(MOST_OUTCOMES);
      expect(refused).toMatch(/asked for its outcome \d+ times, with 2[56] MB of answers.*Ask the query state/);
      await expect
        .poll(() => rig.starter.outcome({ invoice }, { waitSeconds: 0 }), PATIENTLY)
        .toMatchObject({ stage: "completed" });
      await expect
        .poll(() => fiscalflow("sale", "show", invoice, "--json"), PATIENTLY)
        .toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Issue the sale") });
      const { raw } = await handle.describe();
      expect(Number(raw.workflowExecutionInfo?.historySizeBytes)).toBeLessThan(40e6);
    },
    LONG_MS,
  );
});
