import { describe, expect, it } from "vitest";

import type { Attention, AttentionChange, RunNote, SaleDocument } from "../../contract/index.ts";
import { type OpenedRecord, openLedger } from "../index.ts";
import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import {
  by,
  documentOf,
  keepRecord,
  recordOf,
  someBusiness,
  type TestRecord,
  WRITER,
} from "../test-support/records.ts";
import { verified } from "../test-support/verified.ts";

const test = ledgerOfSuite();

type Business = ReturnType<typeof someBusiness>;
const save = (business: Business, record: TestRecord) => keepRecord(test.ledger, business, record, WRITER);

async function rows(table: string, { businessId }: Business, columns = "*"): Promise<unknown[]> {
  const found = await test.outside.query(`select ${columns} from ${table} where business_id = $1 order by number`, [
    businessId,
  ]);
  return found.rows;
}

const eventKinds = async (business: Business): Promise<unknown> =>
  (await rows("events", business, "kind")).map((row) => (row as { kind: string }).kind);

const OF = { type: "sale", number: "INV-1" } as const;
const ASKED: OpenedRecord = { ...OF, stage: "resolving-items", startedAtMs: 1_763_600_000_000, date: "2026-11-20" };

/** A row that its first run has opened. */
async function opened() {
  const business = someBusiness();
  const { documents } = test.ledger;
  await documents.open(business, ASKED, by(WRITER));
  return { business, documents, kept: async () => (await documents.findSale(business, "INV-1"))?.record };
}

function noteOf(more: Partial<RunNote>): RunNote {
  const nothing = { numberTaken: false, attentions: [], attentionChanges: [], decisions: [] };
  return { ...OF, asOfMs: ASKED.startedAtMs + 5, sequence: 1, stage: "submitting", ...nothing, ...more };
}

describe("a document's row", () => {
  it("keeps amounts as they were written, and names the run that carries it on", async () => {
    const business = someBusiness();
    await save(business, recordOf("INV-1"));
    const written = { workflow_id: WRITER.workflowId, run_id: WRITER.runId };
    const [row] = await rows("documents", business);
    expect(row).toMatchObject({
      number: "INV-1",
      total: "700.2",
      tax_amount: "96.58",
      cu_invoice_no: "CU-INV-1",
      ...written,
    });
    const [lines, columns] = [
      "documents, jsonb_array_elements(document -> 'lines') as line",
      "line ->> 'unitPrice' as price",
    ];
    expect(await rows(lines, business, columns)).toEqual([{ price: "350.1" }, { price: "0.0000001" }]);
  });

  it("is there from when its run opens it, and is settled by each answer", async () => {
    const { business, documents, kept } = await opened();
    expect(await kept()).toMatchObject({ stage: "resolving-items", document: null, numberTaken: false });
    const told = async (status: string, askedAtMs: number, more: Partial<SaleDocument> = { receipt: null }) => {
      await documents.answered(business, OF, { document: documentOf("INV-1", { status, ...more }), askedAtMs }, WRITER);
      return (await kept())?.stage;
    };
    expect(await told("pending", 1)).toBe("awaiting-authority");
    expect(await told("failed", 2)).toBe("rejected");
    expect(await told("signing", 3)).toBe("awaiting-authority");
    expect(await told("completed", 4)).toBe("awaiting-authority");
    expect(await told("completed", 5, {})).toBe("completed");
    // A late attempt, and an answer without the receipt.
    expect(await told("pending", 2)).toBe("completed");
    expect(await told("completed", 6)).toBe("completed");
    expect(await kept()).toMatchObject({ numberTaken: true, document: documentOf("INV-1") });
    expect((await verified(test.ledger, business)).findings).toEqual([]);
  });

  it("is carried on by another run as it is, where anything was sent for it", async () => {
    const { business, documents, kept } = await opened();
    await documents.answered(business, OF, { document: documentOf("INV-1"), askedAtMs: 5 }, WRITER);
    const attentions: Attention[] = [{ code: "stock-refused", message: "refused", sinceMs: 5, resolvedBy: ["retry"] }];
    await documents.note(business, noteOf({ attentions, stage: "completed" }), WRITER);
    const next = { ...WRITER, runId: "run-2" };
    await documents.open(business, { ...ASKED, startedAtMs: ASKED.startedAtMs + 10 }, by(next, ASKED.startedAtMs + 10));
    expect(await kept()).toMatchObject({ stage: "completed", document: documentOf("INV-1"), attentions });
    expect((await documents.findSale(business, "INV-1"))?.writer).toEqual(next);
    // What the run before had on its way changes nothing, and neither does a stage before the receipt.
    await documents.note(business, noteOf({ stage: "rejected" }), WRITER);
    const later = { asOfMs: ASKED.startedAtMs + 20, stage: "resolving-items" as const };
    await documents.note(business, noteOf({ ...later, attentions }), next);
    expect(await kept()).toMatchObject({ stage: "completed", attentions });
    expect((await verified(test.ledger, business)).findings).toEqual([]);
  });

  it("is for other content while nothing was sent for it, and not once a request may have left", async () => {
    const { business, documents, kept } = await opened();
    const other = { ...ASKED, fingerprint: "other", startedAtMs: ASKED.startedAtMs + 10 };
    await documents.open(business, other, by({ ...WRITER, runId: "run-2" }));
    expect(await kept()).toMatchObject({ fingerprint: "other" });
    await documents.note(business, noteOf({ asOfMs: other.startedAtMs + 1, numberTaken: true, stage: "submitting" }), {
      ...WRITER,
      runId: "run-2",
    });
    await documents.open(
      business,
      { ...ASKED, startedAtMs: other.startedAtMs + 20 },
      by({ ...WRITER, runId: "run-3" }, other.startedAtMs + 20),
    );
    expect(await kept()).toMatchObject({ fingerprint: "other", numberTaken: true });
  });

  it("is one for twenty attempts in many processes at once, in one chain that verifies", async () => {
    const business = someBusiness();
    const ledgers = [1, 2, 3].map(() => openLedger({ url: test.url, home: "/nowhere", operationTimeoutMs: 20_000 }));
    const tellers = Array.from({ length: 20 }, (_, n) => ledgers[n % 3] ?? test.ledger);
    const document = documentOf("INV-1");
    await Promise.all(
      tellers.map(async ({ documents }, n) => {
        await documents.open(business, ASKED, by(WRITER));
        await documents.answered(business, OF, { document, askedAtMs: n }, WRITER);
      }),
    );
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    expect(await rows("documents", business)).toHaveLength(1);
    expect(await eventKinds(business)).toEqual(["document-saved", "document-saved"]);
    expect((await verified(test.ledger, business)).findings).toEqual([]);
  });

  it("keeps the wish to give up a credit note with its own refund, and not with the next one", async () => {
    const { business, documents, kept } = await opened();
    let sequence = 0;
    const told = async (more: Partial<RunNote>) => {
      await documents.note(business, noteOf({ sequence: ++sequence, stage: "completed", ...more }), WRITER);
      return (await kept())?.creditNoteCancelRequested;
    };
    const refund = { reason: "06", traderInvoiceNumber: "CN-1", returnDate: "2026-11-20" } as const;
    const creditNoteCancelRequested = "the wrong sale";
    expect(await told({ refund, creditNoteCancelRequested })).toBe(creditNoteCancelRequested);
    // A run that was reset may not know of it.
    expect(await told({})).toBe(creditNoteCancelRequested);
    expect(await told({ refund })).toBe(creditNoteCancelRequested);
    // What came while the ledger was away is one note: the refund that was given up is in none.
    const replacedBy = { traderInvoiceNumber: "INV-2", fingerprint: "of INV-2" };
    expect(await told({ refund: { ...refund, replacedBy } })).toBeUndefined();
    expect(await told({ refund: { ...refund, replacedBy }, creditNoteCancelRequested })).toBeDefined();
    expect(await told({ refund: { ...refund, traderInvoiceNumber: "CN-2", replacedBy } })).toBeUndefined();
    expect(await told({ refund, creditNoteCancelRequested })).toBeDefined();
    expect(await told({ refund: null })).toBeUndefined();
  });

  it("that its run has given up, and asks for again, is not to be given up once more", async () => {
    const { business, documents, kept } = await opened();
    await documents.note(business, noteOf({ stage: "cancelled", cancelRequested: "the wrong sale" }), WRITER);
    const later = ASKED.startedAtMs + 10;
    expect(await documents.open(business, ASKED, by(WRITER, later))).toMatchObject({ stage: "cancelled" });
    expect(await kept()).not.toHaveProperty("cancelRequested");
    await documents.note(business, noteOf({ asOfMs: later + 1, sequence: 2 }), WRITER);
    expect(await kept()).not.toHaveProperty("cancelRequested");
  });

  it("of another sale's credit note stays, whatever a run asks for under its number", async () => {
    const business = someBusiness();
    const { documents } = test.ledger;
    await save(business, recordOf("INV-1", { document: documentOf("INV-1", { id: "sal_1" }) }));
    const asked = { ...ASKED, type: "credit_note", number: "CN-1", stage: "submitting" } as const;
    const note = (originalSaleId: string) => ({ ...asked, originalSaleId });
    const document = documentOf("CN-1", { type: "credit_note", originalSaleId: "sal_1" });
    await documents.open(business, note("sal_1"), by(WRITER));
    await documents.answered(business, note("sal_1"), { document, askedAtMs: 5 }, WRITER);
    const another = { workflowId: "sale/default/biz_1/INV-2", runId: "run-9" };
    expect(await documents.open(business, note("sal_2"), by(another))).toBeUndefined();
    const next = { ...WRITER, runId: "run-2" };
    expect(await documents.open(business, note("sal_1"), by(next, 1_763_600_000_500))).toMatchObject({
      stage: "credited",
    });
    await documents.note(
      business,
      noteOf({ ...note("sal_2"), stage: "cancelled", asOfMs: 1_763_600_000_900 }),
      another,
    );
    const { creditNote } = (await documents.findSale(business, "INV-1")) ?? {};
    expect(creditNote).toMatchObject({
      record: { stage: "credited", originalSaleId: "sal_1", document: { id: document.id } },
    });
    expect((await verified(test.ledger, business)).findings).toEqual([]);
  });

  it("is made by an answer where a database that was restored knows nothing of its run", async () => {
    const business = someBusiness();
    const { documents } = test.ledger;
    await documents.note(business, noteOf({ stage: "rejected" }), WRITER);
    expect(await documents.findSale(business, "INV-1")).toBeUndefined();
    await documents.answered(business, OF, { document: documentOf("INV-1"), askedAtMs: 5 }, WRITER);
    expect((await documents.findSale(business, "INV-1"))?.record).toMatchObject({
      stage: "completed",
      numberTaken: true,
    });
    expect((await verified(test.ledger, business)).findings).toEqual([]);
  });

  it("keeps the history of its attentions and decisions, each once", async () => {
    const business = someBusiness();
    const raised: AttentionChange = {
      change: "raised",
      code: "stock-unknown",
      subject: "INV-1/item_tea/sold",
      message: "It was sent, and no answer came.",
      evidence: { note: "zero \0 and half \uD800" },
      sinceMs: 5,
      atMs: 5,
    };
    const decision = { update: "resolveStock", code: "stock-unknown", note: "counted", by: "a@b", atMs: 7 } as const;
    const cleared: AttentionChange = { ...raised, change: "cleared", atMs: 8 };
    await save(business, recordOf("INV-1", { movements: [], attentionChanges: [raised] }));
    const later = {
      movements: [],
      attentionChanges: [raised, cleared],
      decisions: [decision],
      asOfMs: 1_763_600_000_001,
    };
    await save(business, recordOf("INV-1", later));
    await save(business, recordOf("INV-1", later));
    const kinds = ["document-saved", "document-saved", "attention-raised", "attention-cleared", "decided"];
    expect(await eventKinds(business)).toEqual(kinds);
    expect((await test.ledger.events.read(business)).map(({ operator }) => operator)).toEqual([
      undefined,
      undefined,
      { code: "stock-unknown" },
      { code: "stock-unknown" },
      { update: "resolveStock", code: "stock-unknown" },
    ]);
  });
});

describe("the verification of records", () => {
  async function findings(business: Business): Promise<unknown[]> {
    return (await verified(test.ledger, business)).findings;
  }

  it("finds nothing in unaltered rows", async () => {
    const business = someBusiness();
    for (let n = 0; n < 101; n++) await save(business, recordOf(`INV-${n}`));
    const waiting = recordOf("INV-0", { type: "credit_note", document: null, movements: [], originalSaleId: "sale_1" });
    await save(business, waiting);
    expect(await verified(test.ledger, business)).toMatchObject({
      documents: 102,
      withoutDocument: 1,
      findings: [],
      moreFindings: 0,
    });
  });

  it.each([
    [
      "update documents set total = total + 0.01 where business_id = $1",
      { kind: "row-changed", table: "documents", row: "sale INV-1", columns: ["total"] },
    ],
    [
      "update documents set document = jsonb_set(document, '{lines,1,taxRate}', '0') where business_id = $1",
      { kind: "row-changed", table: "documents", row: "sale INV-1", columns: ["document"] },
    ],
    [
      "update documents set document = document #- '{lines,0}' where business_id = $1",
      { kind: "row-changed", table: "documents", row: "sale INV-1", columns: ["document"] },
    ],
    [
      "update documents set event_number = 0 where business_id = $1",
      { kind: "row-behind", table: "documents", event: 0, last: 2 },
    ],
  ])("finds the alteration: %s", async (statement, finding) => {
    const business = someBusiness();
    await save(business, recordOf("INV-1"));
    await test.outside.query(statement, [business.businessId]);
    expect(await findings(business)).toMatchObject([{ subject: "sale INV-1", ...finding }]);
  });

  it("is named where a row names an event that is missing", async () => {
    const business = someBusiness();
    await save(business, recordOf("INV-1"));
    await test.outside.query("update documents set event_number = 9 where business_id = $1", [business.businessId]);
    const { documents } = test.ledger;
    const missing =
      /event 9 of biz_.*, with which the row of sale INV-1 was written, is missing: run `fiscalflow ledger verify`/;
    await expect(save(business, recordOf("INV-1"))).rejects.toThrow(missing);
    // Nobody is told that nothing was ever sent.
    await expect(documents.read({ ...business, of: OF })).rejects.toThrow(missing);
    await expect(documents.findSale(business, "INV-1")).rejects.toThrow(missing);
  });

  it("finds a document that was deleted with all its rows", async () => {
    const business = someBusiness();
    await save(business, recordOf("INV-1"));
    await save(business, recordOf("INV-2"));
    await test.outside.query("delete from documents where business_id = $1 and number = 'INV-1'", [
      business.businessId,
    ]);
    expect(await findings(business)).toEqual([
      { kind: "row-missing", table: "documents", subject: "sale INV-1", row: "sale INV-1" },
    ]);
  });
});
