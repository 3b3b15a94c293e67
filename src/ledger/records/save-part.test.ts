import { describe, expect, it } from "vitest";

import { type Attention, type RecordPart, stockReferenceId, type StockMovement } from "../../contract/index.ts";
import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { bookMovement } from "../test-support/movements.ts";
import { documentOf, recordOf, someBusiness, WRITER } from "../test-support/records.ts";

const test = ledgerOfSuite();

type Business = ReturnType<typeof someBusiness>;
const tell = (business: Business, part: RecordPart, writer = WRITER) =>
  test.ledger.records.saveDocument(business, part, writer);
const kept = async (business: Business) => (await test.ledger.records.findSale(business, "INV-1"))?.record;

function movement(n: number, state: StockMovement["state"]): StockMovement {
  const referenceId = `INV-1/item_${n}/sold`;
  const goods = { itemId: `item_${n}`, quantity: 1, unitPrice: 100 };
  return { referenceId, purpose: "sold", action: "DEDUCT", ...goods, state };
}

const attention = (code: Attention["code"], subject: string): Attention => ({
  code,
  subject,
  message: "no answer came",
  sinceMs: 5,
  resolvedBy: ["resolveStock"],
});

const content = {
  businessId: "biz_1",
  traderInvoiceNumber: "INV-1",
  saleDate: null,
  paymentTypeCode: null,
  customer: null,
  lines: [{ item: "id:item_1", quantity: 1, unitPrice: 100 }],
  saleId: null,
  branch: null,
};
const unknown = attention("stock-unknown", "INV-1/item_2/sold");
const first = (more: Partial<RecordPart> = {}): RecordPart => ({
  ...recordOf("INV-1", { content, stage: "adjusting-stock", attentions: [unknown] }),
  movements: [movement(1, "sending"), movement(2, "unknown")],
  ...more,
});
/** Tells that the second movement was settled, and of a third one. */
const second = (more: Partial<RecordPart> = {}): RecordPart => ({
  ...recordOf("INV-1", { sequence: 2 }),
  since: 1,
  document: "unchanged",
  movements: [movement(2, "applied"), movement(3, "applied")],
  attentions: [attention("stock-unreported", "INV-1/item_3/sold")],
  attentionsOver: [{ code: "stock-unknown", subject: "INV-1/item_2/sold" }],
  ...more,
});

describe("a partial record with the changes since the last one", () => {
  it.each(["resolving-items", "awaiting-authority", "cancelled"] as const)(
    "is older in each of its parts where its run, at %s, has not found out what is kept",
    async (stage) => {
      const business = someBusiness();
      await tell(business, first({ stage: "completed" }));
      const next = { ...WRITER, runId: "run-2" };
      const document =
        stage === "awaiting-authority" ? documentOf("INV-1", { status: "pending", receipt: null }) : null;
      const told = first({ stage, document, sequence: 1, asOfMs: first().asOfMs + 1, incomplete: true });
      const rest = second({ stage, asOfMs: told.asOfMs });
      expect([await tell(business, told, next), await tell(business, rest, next)]).toEqual(["older", "older"]);
      expect(await kept(business)).toMatchObject({ stage: "completed", document: documentOf("INV-1") });
      // Once it has found the document, the ledger takes all of it.
      const found = second({ asOfMs: told.asOfMs + 1, sequence: 3, since: 2 });
      expect(await tell(business, found, next)).toBe("send-whole");
    },
  );

  it("is merged into the record that the same run sent before", async () => {
    const business = someBusiness();
    expect([await tell(business, first()), await tell(business, second())]).toEqual(["saved", "saved"]);
    expect(await kept(business)).toMatchObject({
      stage: "completed",
      content,
      document: documentOf("INV-1"),
      movements: [movement(1, "sending"), movement(2, "applied"), movement(3, "applied")],
      attentions: [{ code: "stock-unreported" }],
    });
    expect((await test.ledger.records.verify(business)).findings).toEqual([]);
  });

  it("changes nothing when an attempt runs twice, or comes after a later one", async () => {
    const business = someBusiness();
    const third = second({ since: 2, sequence: 3, movements: [movement(3, "dropped")], attentionsOver: [] });
    await tell(business, first());
    await tell(business, second());
    expect(await tell(business, second())).toBe("older");
    await tell(business, third);
    expect(await tell(business, second())).toBe("older");
    expect((await kept(business))?.movements.map(({ state }) => state)).toEqual(["sending", "applied", "dropped"]);
  });

  it("is answered with a request for the whole record where the ledger was emptied, or has another run's record", async () => {
    const business = someBusiness();
    expect(await tell(business, second())).toBe("send-whole");
    expect(await kept(business)).toBeUndefined();
    await tell(business, first({ asOfMs: 1 }), { ...WRITER, runId: "run-0" });
    expect(await tell(business, second())).toBe("send-whole");
    expect(await kept(business)).toMatchObject({ stage: "adjusting-stock" });
    await tell(business, first());
    expect(await tell(business, second({ since: 2, sequence: 3 }))).toBe("send-whole");
  });

  it("of an earlier run does not overwrite a later run's record, and its decisions are kept", async () => {
    const business = someBusiness();
    await tell(business, first({ asOfMs: 1_763_600_000_900 }), { ...WRITER, runId: "run-2" });
    const decision = { update: "resolveStock", code: "stock-unknown", note: "counted", atMs: 7 } as const;
    expect(await tell(business, second({ decisions: [decision] }))).toBe("older");
    const found = await test.ledger.records.findSale(business, "INV-1");
    expect(found).toMatchObject({ record: { stage: "adjusting-stock" }, decisions: [decision] });
  });

  it("is marked incomplete until its last part has arrived", async () => {
    const business = someBusiness();
    await tell(business, first({ incomplete: true }));
    expect(await kept(business)).toMatchObject({ incomplete: true });
    await tell(business, second());
    expect(await kept(business)).not.toHaveProperty("incomplete");
    expect((await test.ledger.records.verify(business)).findings).toEqual([]);
  });
});

describe("the record of a document without its lines", () => {
  const whole = documentOf("INV-1");
  const { lines } = whole;
  const short = { ...whole, lines: [], linesLeftOut: { count: lines.length } };
  const of = { type: "sale", number: "INV-1" } as const;

  it("is kept without lines until they arrive, and then whole", async () => {
    const business = someBusiness();
    expect(await tell(business, first({ document: short }))).toBe("lines-missing");
    expect((await kept(business))?.document).toEqual(short);
    await test.ledger.records.keepLines(business, of, whole);
    expect((await kept(business))?.document).toEqual(whole);
    await test.ledger.records.keepLines(business, of, { ...whole, lines: [] });
    expect((await kept(business))?.document).toEqual(whole);
    expect((await test.ledger.records.verify(business)).findings).toEqual([]);
  });

  it("is answered again with its missing lines where that answer was lost", async () => {
    const business = someBusiness();
    await tell(business, first({ document: null }));
    const part = second({ document: short });
    expect([await tell(business, part), await tell(business, part)]).toEqual(["lines-missing", "lines-missing"]);
  });

  it("keeps the lines that the ledger has of the same document, whichever run sends it", async () => {
    const business = someBusiness();
    await tell(business, first({ document: whole }));
    expect(await tell(business, second({ document: { ...short, status: "failed" } }))).toBe("saved");
    expect((await kept(business))?.document).toEqual({ ...whole, status: "failed" });
    const later = first({ document: short, asOfMs: 1_763_600_000_900 });
    expect(await tell(business, later, { ...WRITER, runId: "run-2" })).toBe("saved");
    expect((await kept(business))?.document).toEqual(whole);
  });

  it("does not take over the lines of another document", async () => {
    const business = someBusiness();
    await tell(business, first({ document: short }));
    await test.ledger.records.keepLines(business, of, { ...whole, id: "sal_other" });
    expect((await kept(business))?.document).toEqual(short);
    await test.ledger.records.keepLines(business, { ...of, number: "INV-2" }, whole);
    expect((await kept(business))?.document).toEqual(short);
    await tell(business, second({ document: { ...short, id: "sal_other" } }));
    expect((await kept(business))?.document).toMatchObject({ id: "sal_other", lines: [] });
  });
});

describe("the record of a signed sale whose goods another run gave back", () => {
  const sold = movement(1, "applied");
  const undone: StockMovement = {
    ...sold,
    referenceId: "INV-1/item_1/undone",
    purpose: "undone",
    action: "ADD",
    undoes: sold.referenceId,
  };
  const pending = documentOf("INV-1", { status: "pending", receipt: undefined });
  const next = { ...WRITER, runId: "run-2" };

  /** As the run that gave the sale up has left it. */
  async function givenUp(): Promise<Business> {
    const business = someBusiness();
    for (const one of [sold, undone])
      await bookMovement(test.ledger.stock, business, { type: "sale", number: "INV-1" }, one);
    const record = recordOf("INV-1", { stage: "cancelled", document: documentOf("INV-1", { status: "failed" }) });
    expect(await tell(business, { ...record, movements: [sold, undone] })).toBe("saved");
    return business;
  }
  const inFlight = recordOf("INV-1", { stage: "awaiting-authority", document: pending, movements: [sold] });
  const signed = recordOf("INV-1", { sequence: 2, movements: [sold] });

  it("says so as often as it is told, until it shows that, or is said to be known", async () => {
    const business = await givenUp();
    expect(await tell(business, inFlight, next)).toBe("saved");
    for (const _time of [1, 2]) expect(await tell(business, signed, next)).toBe("goods-given-back");
    const { records } = test.ledger;
    expect(await records.saveDocument(business, signed, next, { givenBackKnown: true })).toBe("unchanged");
    expect(await tell(business, { ...signed, sequence: 3, movements: [sold, undone] }, next)).toBe("saved");
  });

  it("says so where the record comes in parts", async () => {
    const business = await givenUp();
    await tell(business, inFlight, next);
    const part = { ...signed, since: 1, movements: [] };
    for (const _time of [1, 2]) expect(await tell(business, part, next)).toBe("goods-given-back");
  });

  it("says nothing of a sale that keeps its goods, and does not take long for many movements of one item", async () => {
    const business = someBusiness();
    const many = Array.from({ length: 1_000 }, (_, at) => ({
      ...sold,
      referenceId: stockReferenceId("INV-1", "item_1", "sold", at + 1),
    }));
    expect(await tell(business, { ...inFlight, movements: many })).toBe("saved");
    expect(await tell(business, { ...signed, movements: many })).toBe("saved");
  });
});
