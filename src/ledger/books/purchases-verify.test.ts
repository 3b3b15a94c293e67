import { describe, expect, it } from "vitest";

import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { businessWithPurchases, purchaseOf as purchase } from "../test-support/purchases.ts";
import { verified } from "../test-support/verified.ts";

const test = ledgerOfSuite();

const business = () => businessWithPurchases(test.ledger);

describe("the verification of purchases", () => {
  const tamper = (statement: string, businessId: string): Promise<void> => test.outside.tamper(statement, [businessId]);

  it("finds nothing in unaltered rows, whatever was kept", async () => {
    const { keep, scope, sync, complete } = business();
    await keep([purchase("p1", { confirmationError: "\ud800 half" }), purchase("p2"), purchase("p 3")]);
    await keep([purchase("p1", { status: "confirmed" })]);
    await complete(sync("full"), { goneBeforeMs: (await test.ledger.purchases.now()) + 1 });
    await keep([purchase("p1", { status: "confirmed" }), purchase("p2")]);
    expect(await verified(test.ledger, scope)).toMatchObject({ purchases: 3, findings: [], moreFindings: 0 });
  });

  it("finds a row that was changed, put back to an earlier state, or deleted", async () => {
    const { keep, scope } = business();
    await keep([purchase("p1"), purchase("p2"), purchase("p3")]);
    await keep([purchase("p2", { status: "confirmed" })]);
    await tamper(
      "update purchases set body = jsonb_set(body, '{totals,total}', '1') where business_id = $1 and id = 'p1'",
      scope.businessId,
    );
    const back = `update purchases set event_number = 2, body = body || '{"status":"pulled"}' where business_id = $1 and id = 'p2'`;
    await tamper(back, scope.businessId);
    await tamper("delete from purchases where business_id = $1 and id = 'p3'", scope.businessId);
    expect((await verified(test.ledger, scope)).findings).toEqual([
      { kind: "row-changed", table: "purchases", subject: "purchase p1", row: "purchase p1", columns: ["body"] },
      { kind: "row-behind", table: "purchases", subject: "purchase p2", event: 2, last: 4 },
      { kind: "row-missing", table: "purchases", subject: "purchase p3", row: "purchase p3" },
    ]);
  });
});

describe("a deleted row of a purchase", () => {
  it.each(["p1", "p2", "p3"])("is found by the verification: %s of three", async (id) => {
    const { keep, scope } = business();
    await keep([purchase("p1"), purchase("p2"), purchase("p3")]);
    await test.outside.tamper("delete from purchases where business_id = $1 and id = $2", [scope.businessId, id]);
    const subject = `purchase ${id}`;
    expect(await verified(test.ledger, scope)).toMatchObject({
      purchases: 2,
      findings: [{ kind: "row-missing", table: "purchases", subject, row: subject }],
      moreFindings: 0,
    });
  });
});

describe("a purchase whose row was deleted while it was missing", () => {
  it("is restored once it is listed again", async () => {
    const { keep, scope, sync, complete, changesOf } = business();
    await keep([purchase("p1")]);
    await complete(sync("full"), { goneBeforeMs: (await test.ledger.purchases.now()) + 1 });
    await test.outside.tamper("delete from purchases where business_id = $1", [scope.businessId]);
    await keep([purchase("p1")]);
    expect(await changesOf("p1")).toEqual(["first-seen", "missing", "first-seen"]);
    expect((await verified(test.ledger, scope)).findings).toEqual([]);
  });
});

describe("purchases with extreme amounts", () => {
  it("are kept as written, and verify as kept", async () => {
    const { keep, kept, scope } = business();
    const odd = purchase("p1", { totals: { subtotal: 1e21, vat: 5e-8, total: -2.842170943040401e-14 } });
    await keep([odd]);
    expect((await kept())[0]?.entry).toEqual(odd);
    expect((await verified(test.ledger, scope)).findings).toEqual([]);
  });
});
