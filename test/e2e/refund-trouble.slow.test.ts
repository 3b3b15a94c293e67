import { afterAll, beforeAll, expect, test } from "vitest";

import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

describeWithTemporal("a refund", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig?.close());

  const { creditNotesOf, handleOf, movementsOf, result, sold } = salesOf(() => rig);

  test("whose credit note is rejected reports that to the sale's callers, and goes on when it is resolved", async () => {
    const { sale } = await sold("NOTE-REJECTED-1");
    rig.simulator.setAuthority("CN-NOTE-REJECTED-1", [{ do: "reject", reason: "no" }]);
    const request = { reason: "06", traderInvoiceNumber: "CN-NOTE-REJECTED-1" } as const;
    const refunded = await rig.starter.refund({ invoice: "NOTE-REJECTED-1" }, request, { waitSeconds: 20 });
    expect(refunded).toMatchObject({ stage: "crediting", attention: { code: "rejected" } });
    rig.simulator.setAuthority("CN-NOTE-REJECTED-1", [{ do: "accept" }]);
    await rig.starter.retry({ invoice: "NOTE-REJECTED-1" });
    expect(await result("NOTE-REJECTED-1")).toMatchObject({ stage: "credited" });
    expect(creditNotesOf(sale?.id)).toHaveLength(1);
  });

  test("whose credit note is given up leaves the sale completed, and another refund can follow", async () => {
    const { sale } = await sold("GIVEN-UP-1");
    rig.simulator.setAuthority("CN-GIVEN-UP-1", [{ do: "reject", reason: "no" }]);
    await rig.starter.refund(
      { invoice: "GIVEN-UP-1" },
      { reason: "06", traderInvoiceNumber: "CN-GIVEN-UP-1" },
      { waitSeconds: 20 },
    );
    await rig.starter.cancel({ invoice: "GIVEN-UP-1" }, { reason: "typed by mistake" });
    await rig.stateWhen("GIVEN-UP-1", ({ stage }) => stage === "completed");
    const second = await rig.starter.refund(
      { invoice: "GIVEN-UP-1" },
      { reason: "06", traderInvoiceNumber: "CN-GIVEN-UP-2" },
      { waitSeconds: 20 },
    );
    expect(second).toMatchObject({ stage: "credited", creditNote: { traderInvoiceNumber: "CN-GIVEN-UP-2" } });
    expect(creditNotesOf(sale?.id).filter(({ status }) => status === "completed")).toHaveLength(1);
  });

  test("of a sale that somebody else has credited shows that, and returns no goods once it is acknowledged", async () => {
    const { sale } = await sold("FOREIGN-1");
    const url = `${rig.simulator.url}/v1/credit-notes?businessId=biz_1`;
    const headers = { "x-api-key": "cmp_sk_test_simulator", "content-type": "application/json" };
    const body = { traderInvoiceNumber: "CN-FOREIGN", returnDate: "2026-11-21", saleId: sale?.id, reason: "06" };
    await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    const refunded = await rig.starter.refund(
      { invoice: "FOREIGN-1" },
      { reason: "06", traderInvoiceNumber: "CN-OURS", restock: true },
      { waitSeconds: 20 },
    );
    expect(refunded).toMatchObject({ stage: "crediting", attention: { code: "already-credited" } });
    const seen = { code: "already-credited", note: "the back office did it" } as const;
    await rig.starter.acknowledge({ invoice: "FOREIGN-1" }, seen);
    expect(await result("FOREIGN-1")).toMatchObject({
      stage: "credited",
      creditNote: { traderInvoiceNumber: "CN-FOREIGN" },
    });
    const { searchAttributes } = await handleOf("FOREIGN-1").describe();
    expect(searchAttributes["FiscalCreditNote"]).toEqual(["CN-FOREIGN"]);
    expect(movementsOf("FOREIGN-1")).toMatchObject([{ action: "DEDUCT" }]);
    expect(movementsOf("CN-OURS")).toEqual([]);
    expect(creditNotesOf(sale?.id)).toHaveLength(1);
  });

  test("of a sale that a credit note of another application has credited shows that too", async () => {
    const { sale } = await sold("FOREIGN-2");
    const url = `${rig.simulator.url}/v1/credit-notes?businessId=biz_1`;
    const headers = { "x-api-key": "cmp_sk_test_simulator", "content-type": "application/json" };
    const body = { traderInvoiceNumber: "CN-HIDDEN", returnDate: "2026-11-21", saleId: sale?.id, reason: "06" };
    await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    const error = { code: "not_found", message: "Sale not found." };
    const answer = { when: "before", kind: "status", status: 404, body: { error } } as const;
    const show = rig.simulator.inject({ operation: "readSale", ...answer, match: { invoice: "CN-HIDDEN" } });
    const asked = { reason: "06", traderInvoiceNumber: "CN-OURS-2" } as const;
    const refunded = await rig.starter.refund({ invoice: "FOREIGN-2" }, asked, { waitSeconds: 20 });
    expect(refunded).toMatchObject({ stage: "crediting", attention: { code: "already-credited" } });
    expect(refunded.attention?.message).toContain("cannot be read");
    const seen = { code: "already-credited", note: "the back office did it" } as const;
    await rig.starter.acknowledge({ invoice: "FOREIGN-2" }, seen);
    expect(await result("FOREIGN-2")).toMatchObject({ stage: "credited" });
    show();
  });
});
