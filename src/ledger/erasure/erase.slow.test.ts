import { describe, expect, it } from "vitest";

import { differencesInWords, ERASED, fingerprintOf, saleContent, saleOfContent } from "../../contract/index.ts";
import { type ErasedDocument, type EraseRequest, type Erasure, type Ledger, openLedger } from "../index.ts";
import { createTestLedger, ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { type OutsideClient, openOutsideClient } from "../test-support/outside-client.ts";
import { documentOf, keepRecord, recordOf, someBusiness, type TestRecord, WRITER } from "../test-support/records.ts";
import { verified } from "../test-support/verified.ts";

const test = ledgerOfSuite();

type Business = ReturnType<typeof someBusiness>;

const CUSTOMER = { name: "Wanjikũ Kamau", pin: "A000000001B", phone: "+254700000001", email: "wanjiku@example.com" };
const OLD = "2015-03-02";
const RECENT = "2026-11-20";
const KEPT_FROM = "2021-11-29";

/** A signed sale to a customer, in which messages for people name them too. */
function saleTo(customer: typeof CUSTOMER, number: string, date: string, more: Partial<TestRecord> = {}): TestRecord {
  const asked = {
    traderInvoiceNumber: number,
    customer,
    lines: [{ itemId: "item_tea", quantity: 2, unitPrice: 350.1 }],
  };
  const content = saleContent(asked, undefined);
  const about = {
    code: "rejected",
    message: `The buyer ${customer.name}, ${customer.pin}: unknown`,
    sinceMs: 1,
  } as const;
  return recordOf(number, {
    content,
    fingerprint: fingerprintOf(content),
    date,
    document: Object.assign(documentOf(number, { customer, saleDate: date }), { buyerPhone: customer.phone }),
    // As it is kept until a person has answered, with a part of what the service said.
    cancelRequested: `${customer.name} has changed their mind`,
    attentionChanges: [
      {
        ...about,
        change: "raised",
        evidence: { bodyExcerpt: `{"pin":"${customer.pin.slice(0, 5)}`, errors: [customer.email] },
      },
    ] as unknown as TestRecord["attentionChanges"],
    decisions: [
      { update: "retry", code: "rejected", by: "otieno", note: `${customer.phone} says it is right`, atMs: 2 },
    ] as unknown as TestRecord["decisions"],
    ...more,
  });
}

const save = (business: Business, record: TestRecord, ledger: Ledger = test.ledger) =>
  keepRecord(ledger, business, record, WRITER);

/** Everything that a dump of the database would have of a business. */
async function dumped({ businessId }: Business, outside: Pick<OutsideClient, "query"> = test.outside): Promise<string> {
  const tables = ["documents", "movements", "events", "reconcile_findings", "item_registrations", "stock_branch_holds"];
  const parts: string[] = [];
  for (const table of tables) {
    const statement = `select t::text as row from ${table} as t where business_id = $1`;
    const { rows } = await outside.query<{ row: string }>(statement, [businessId]);
    parts.push(...rows.map(({ row }) => row));
  }
  return parts.join("\n");
}

async function asOwner<Result>(work: (ledger: Ledger) => Promise<Result>, url = test.ownerUrl): Promise<Result> {
  const ledger = openLedger({ url, home: "/nowhere", asOwner: true, operationTimeoutMs: 15_000 });
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

async function erase(
  { businessId }: Business,
  which: EraseRequest["which"],
  {
    dryRun = false,
    keep = async () => undefined,
    url = test.ownerUrl,
  }: Partial<Pick<EraseRequest, "dryRun" | "keep"> & { url: string }> = {},
): Promise<ErasedDocument[]> {
  return asOwner(async (ledger) => {
    const all: ErasedDocument[] = [];
    const request = {
      which,
      keptFrom: KEPT_FROM,
      dryRun,
      keep,
      writer: { workflowId: "ledger erase", runId: "by hand" },
    };
    for await (const one of ledger.erase(request)) if (one.businessId === businessId) all.push(one);
    return all;
  }, url);
}

const everyValue = Object.values(CUSTOMER);

describe("erasing what is said of a customer", () => {
  it("leaves not a word of it in rows and events, and the books and the chain as they were", async () => {
    const business = someBusiness();
    await save(business, saleTo(CUSTOMER, "INV-1", OLD));
    const note = documentOf("CN-1", {
      id: "note_1",
      type: "credit_note",
      originalSaleId: "sale_INV-1",
      customer: CUSTOMER,
    });
    await test.ledger.documents.answered(
      business,
      { type: "credit_note", number: "CN-1", originalSaleId: "sale_INV-1" },
      { document: { ...note, saleDate: OLD }, askedAtMs: 1_763_600_100_000 },
      WRITER,
    );
    const before = await verified(test.ledger, business);
    for (const value of everyValue) expect(await dumped(business), value).toContain(value);

    const planned = await erase(business, { before: "2016-01-01" }, { dryRun: true });
    expect(await dumped(business)).toContain(CUSTOMER.pin);
    const kept: Erasure[] = [];
    const erased = await erase(business, { before: "2016-01-01" }, { keep: async (all) => void kept.push(...all) });
    expect(erased).toEqual(planned);
    expect(erased).toMatchObject([{ number: "INV-1", erased: "customer", result: "erased" }]);
    expect(kept).toMatchObject([
      { type: "sale", number: "INV-1", erased: "customer" },
      { type: "credit_note", number: "CN-1", erased: "customer" },
    ]);
    const left = await dumped(business);
    for (const value of everyValue) expect(left, value).not.toContain(value);
    const after = await verified(test.ledger, business);
    expect(after).toMatchObject({ findings: [], documents: 2, events: before.events + 1 });
    const sale = await test.ledger.documents.findSale(business, "INV-1");
    expect(sale?.record.document).toMatchObject({
      customer: { name: ERASED, pin: ERASED, phone: ERASED, email: ERASED },
      totals: { total: 700.2 },
      receipt: { cuInvoiceNo: "CU-INV-1" },
    });
    expect(await erase(business, { before: "2016-01-01" })).toMatchObject([{ result: "nothing-to-erase" }]);
  });

  it("takes telephone and email alone while the law keeps the sale, and the rest afterwards", async () => {
    const business = someBusiness();
    await save(business, saleTo(CUSTOMER, "INV-1", RECENT));
    expect(await erase(business, { customerPin: CUSTOMER.pin })).toMatchObject([
      { erased: "contact", result: "erased" },
    ]);
    const left = await dumped(business);
    expect([left.includes(CUSTOMER.phone), left.includes(CUSTOMER.email)]).toEqual([false, false]);
    expect([left.includes(CUSTOMER.name), left.includes(CUSTOMER.pin)]).toEqual([true, true]);
    expect((await verified(test.ledger, business)).findings).toEqual([]);

    const { businessId } = business;
    await asOwner(async (ledger) => {
      const all = { connection: "default", businessId, type: "sale", number: "INV-1", erased: "customer" } as const;
      for await (const one of ledger.eraseAgain(listed([all]), { writer: WRITER, keptFrom: "2027-01-01" }))
        expect(one.result).toBe("erased");
    });
    for (const value of everyValue) expect(await dumped(business), value).not.toContain(value);
    expect((await verified(test.ledger, business)).findings).toEqual([]);
  });

  it("finds a customer's sales by the PIN, and leaves those of others", async () => {
    const business = someBusiness();
    const other = { name: "Otieno Odhiambo", pin: "A000000009Z", phone: "+254700000009", email: "otieno@example.com" };
    await save(business, saleTo(CUSTOMER, "INV-1", OLD));
    await save(business, saleTo(other, "INV-2", OLD));
    expect(await erase(business, { customerPin: CUSTOMER.pin })).toMatchObject([{ number: "INV-1", result: "erased" }]);
    const left = await dumped(business);
    for (const value of everyValue) expect(left, value).not.toContain(value);
    for (const value of Object.values(other)) expect(left, value).toContain(value);
  });

  it("leaves what is still open", async () => {
    const business = someBusiness();
    await save(business, saleTo(CUSTOMER, "INV-1", OLD, { stage: "crediting" }));
    expect(await erase(business, { before: "2016-01-01" })).toMatchObject([{ result: "still-open", events: 0 }]);
    expect(await dumped(business)).toContain(CUSTOMER.pin);
  });

  it("erases nothing that could not be written down outside of the database", async () => {
    const business = someBusiness();
    await save(business, saleTo(CUSTOMER, "INV-1", OLD));
    const keep = async (): Promise<void> => {
      throw new Error("the disk is full");
    };
    await expect(erase(business, { before: "2016-01-01" }, { keep })).rejects.toThrow("the disk is full");
    expect(await dumped(business)).toContain(CUSTOMER.pin);
  });

  it("is undone by no later answer of the service, and is no other content for who starts the sale again", async () => {
    const business = someBusiness();
    const record = saleTo(CUSTOMER, "INV-1", OLD);
    await save(business, record);
    await erase(business, { before: "2016-01-01" });
    const { document, content } = record;
    if (!document || !content) throw new Error("the record has both");
    const answer = { document: { ...document, paymentTypeCode: "02" }, askedAtMs: Date.now() };
    await test.ledger.documents.answered(business, { type: "sale", number: "INV-1" }, answer, WRITER);
    const kept = await test.ledger.documents.findSale(business, "INV-1");
    expect(kept?.record.document).toMatchObject({
      paymentTypeCode: "02",
      customer: { name: ERASED, pin: ERASED },
      buyerPhone: ERASED,
    });
    expect((await verified(test.ledger, business)).findings).toEqual([]);
    const known = kept?.record.content;
    if (!known) throw new Error("what was asked for is kept");
    expect(differencesInWords(known, content)).toEqual([]);
    const others = { ...content, lines: content.lines.map((line) => ({ ...line, quantity: 3 })) };
    expect(differencesInWords(known, others)).toEqual(["lines[0].quantity: 3, before 2"]);
    // By its number alone it is the same sale, too.
    expect(fingerprintOf(saleContent(saleOfContent(known), undefined))).toBe(kept?.record.fingerprint);
  });

  it("takes a corrected sale with the one that it corrects", async () => {
    const business = someBusiness();
    const right = saleTo(CUSTOMER, "INV-2", OLD, { replaces: "INV-1" });
    const replacedBy = { traderInvoiceNumber: "INV-2", fingerprint: right.fingerprint ?? "" };
    const refund = { reason: "06", traderInvoiceNumber: "CN-1", replacedBy } as unknown as TestRecord["refund"];
    const correction = { correctedBy: "INV-2", stage: "completed" } as unknown as TestRecord["correction"];
    await save(business, saleTo(CUSTOMER, "INV-1", OLD, { stage: "credited", refund, correction }));
    await save(business, right);
    expect(await dumped(business)).toContain(right.fingerprint);
    expect(await erase(business, { before: "2016-01-01" })).toMatchObject([{ number: "INV-1", result: "erased" }]);
    const left = await dumped(business);
    for (const value of [...everyValue, right.fingerprint]) expect(left, value).not.toContain(value);
    const { documents } = test.ledger;
    const [wrong, sold] = [await documents.findSale(business, "INV-1"), await documents.findSale(business, "INV-2")];
    expect(wrong?.record.refund?.replacedBy?.fingerprint).toBe(sold?.record.fingerprint);
    expect((await verified(test.ledger, business)).findings).toEqual([]);
  });

  it("is refused to the workers' login", async () => {
    const request = { which: { before: "2016-01-01" }, keptFrom: KEPT_FROM, dryRun: true, keep: async () => undefined };
    const refused = test.ledger.erase({ ...request, writer: WRITER }).next();
    await expect(refused).rejects.toThrow(/may not change events: give LEDGER_OWNER_URL/);
  });

  it("is done again on a database that was restored from before it", async () => {
    const business = someBusiness();
    const made = await createTestLedger(15_000);
    const nameOf = (url: string): string => new URL(url).pathname.slice(1);
    const withName = (name: string): string => Object.assign(new URL(made.ownerUrl), { pathname: `/${name}` }).href;
    const restored = `${nameOf(made.ownerUrl)}_restored`;
    const outside = openOutsideClient(withName(restored));
    try {
      await save(business, saleTo(CUSTOMER, "INV-1", OLD), made.ledger);
      const putBack = await made.cut();
      await test.outside.query(`create database ${restored} template ${nameOf(made.ownerUrl)}`);
      await test.outside.query(`alter database ${restored} with allow_connections true`);
      await putBack();
      const kept: Erasure[] = [];
      await erase(
        business,
        { before: "2016-01-01" },
        { url: made.ownerUrl, keep: async (all) => void kept.push(...all) },
      );
      expect(await dumped(business, outside)).toContain(CUSTOMER.pin);
      await asOwner(async (ledger) => {
        for await (const one of ledger.eraseAgain(listed(kept), { writer: WRITER, keptFrom: KEPT_FROM }))
          expect(one.number).toBe("INV-1");
        expect((await verified(ledger, business)).findings).toEqual([]);
      }, withName(restored));
      for (const value of everyValue) expect(await dumped(business, outside), value).not.toContain(value);
    } finally {
      await outside.end();
      await test.outside.query(`drop database if exists ${restored} with (force)`);
      await made.drop();
    }
  });
});

describe("what somebody writes into an erased event", () => {
  it("is found by the file of erasures, where they say themselves that it was erased", async () => {
    const business = someBusiness();
    await save(business, saleTo(CUSTOMER, "INV-1", OLD));
    await save(business, saleTo(CUSTOMER, "INV-2", OLD));
    const kept = new Set<string>();
    const keep = async (all: readonly Erasure[]): Promise<void> =>
      all.forEach(({ type, number }) => kept.add(`${type} ${number}`));
    await erase(business, { before: "2016-01-01" }, { keep });
    const erasures = { has: ({ subject }: { subject: string }) => kept.has(subject) };
    const findings = async () => {
      for await (const chain of test.ledger.verify({ businessId: business.businessId, erasures }))
        return chain.findings;
      return undefined;
    };
    expect(await findings()).toEqual([]);
    kept.delete("sale INV-2");
    expect(await findings()).toMatchObject([{ kind: "erased-unlisted", subject: "sale INV-2" }]);
  });

  it.each([
    "content = content || ' '",
    "erased_by = null",
    "erased_by = 1",
    "digest = null",
    "digest = repeat('0', 64)",
  ])("is found: %s", async (change) => {
    const business = someBusiness();
    await save(business, saleTo(CUSTOMER, "INV-1", OLD));
    await erase(business, { before: "2016-01-01" });
    await test.outside.tamper(`update events set ${change} where business_id = $1 and number = 1`, [
      business.businessId,
    ]);
    expect((await verified(test.ledger, business)).findings).toContainEqual(
      expect.objectContaining({ kind: "changed", number: 1 }),
    );
  });
});

async function* listed(erasures: readonly Erasure[]): AsyncGenerator<Erasure> {
  yield* erasures;
}
