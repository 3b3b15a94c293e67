import { describe, expect, it } from "vitest";

import type { AttentionChange, DocumentRecord } from "../../contract/index.ts";
import { openLedger } from "../index.ts";
import { ledgerOfSuite } from "../test-support/create-test-ledger.ts";
import { documentOf, recordOf, someBusiness, WRITER } from "../test-support/records.ts";

const test = ledgerOfSuite();

type Business = ReturnType<typeof someBusiness>;
const save = (business: Business, record: DocumentRecord) => test.ledger.records.saveDocument(business, record, WRITER);

async function rows(table: string, { businessId }: Business, columns = "*"): Promise<unknown[]> {
  const found = await test.outside.query(`select ${columns} from ${table} where business_id = $1 order by number`, [
    businessId,
  ]);
  return found.rows;
}

const eventKinds = async (business: Business): Promise<unknown> =>
  (await rows("events", business, "kind")).map((row) => (row as { kind: string }).kind);

describe("a document's record", () => {
  it("keeps amounts as they were written, and names the workflow that wrote each row", async () => {
    const business = someBusiness();
    expect(await save(business, recordOf("INV-1"))).toBe("saved");
    const written = { workflow_id: WRITER.workflowId, run_id: WRITER.runId };
    expect(await rows("documents", business)).toMatchObject([
      {
        number: "INV-1",
        total: "700.2",
        tax_amount: "96.58",
        cu_invoice_no: "CU-INV-1",
        event_number: "1",
        ...written,
      },
    ]);
    const [lines, columns] = [
      "documents, jsonb_array_elements(document -> 'lines') as line",
      "line ->> 'unitPrice' as price",
    ];
    expect(await rows(lines, business, columns)).toEqual([{ price: "350.1" }, { price: "0.0000001" }]);
  });

  it("keeps what is known of the document while another run still reads it", async () => {
    const business = someBusiness();
    const { records } = test.ledger;
    const signed = recordOf("INV-1");
    const [movement] = signed.movements;
    const pending = documentOf("INV-1", { status: "pending", receipt: undefined });
    await save(business, signed);
    const next = { ...WRITER, runId: "run-2" };
    const later = (sequence: number, more: Partial<DocumentRecord>) =>
      records.saveDocument(business, { ...signed, asOfMs: signed.asOfMs + sequence, sequence, ...more }, next);
    expect(await later(1, { stage: "resolving-items", document: null, movements: [] })).toBe("older");
    expect(await later(2, { stage: "awaiting-authority", document: pending, movements: [] })).toBe("older");
    expect(await eventKinds(business)).toEqual(["document-saved"]);
    const planned = movement ? [{ ...movement, state: "planned" as const }] : [];
    const attentions = [
      { code: "credentials" as const, message: "refused", sinceMs: 5, resolvedBy: ["retry" as const] },
    ];
    const changed = { since: 2, document: "unchanged" as const, movements: [], attentions, asOfMs: signed.asOfMs + 3 };
    const part = { ...signed, ...changed, stage: "resolving-items" as const, sequence: 3 };
    expect(await records.saveDocument(business, part, next)).toBe("older");
    const { document } = signed;
    expect((await records.findSale(business, "INV-1"))?.record).toMatchObject({
      stage: "completed",
      document,
      attentions,
    });
    expect(await later(4, { startedAtMs: 7, attentions, movements: planned })).toBe("saved");
    expect((await records.findSale(business, "INV-1"))?.record).toMatchObject({
      attentions,
      movements: signed.movements,
    });
    // Asked for anew, after it was given up, with other content.
    expect(await later(5, { fingerprint: "other", stage: "resolving-items", document: null, movements: [] })).toBe(
      "saved",
    );
    expect((await records.verify(business)).findings).toEqual([]);
  });

  it("is kept once, however often it is sent", async () => {
    const business = someBusiness();
    const record = recordOf("INV-1");
    expect([await save(business, record), await save(business, record)]).toEqual(["saved", "unchanged"]);
    expect(await save(business, { ...record, asOfMs: record.asOfMs + 1, sequence: 2 })).toBe("unchanged");
    expect(await eventKinds(business)).toEqual(["document-saved"]);
  });

  it("is one document for twenty writers in many processes at once", async () => {
    const business = someBusiness();
    const ledgers = [1, 2, 3].map(() => openLedger({ url: test.url, home: "/nowhere", operationTimeoutMs: 20_000 }));
    const tellers = Array.from({ length: 20 }, (_, n) => ledgers[n % 3] ?? test.ledger);
    const answers = await Promise.all(
      tellers.map((ledger) => ledger.records.saveDocument(business, recordOf("INV-1"), WRITER)),
    );
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    expect(answers.toSorted()).toEqual(["saved", ...Array.from({ length: 19 }, () => "unchanged")]);
    expect(await rows("documents", business)).toHaveLength(1);
  });

  it("is not reverted by an attempt that comes late", async () => {
    const business = someBusiness();
    const inFlight = recordOf("INV-1", { document: documentOf("INV-1", { status: "pending", receipt: null }) });
    await save(business, inFlight);
    expect(await save(business, recordOf("INV-1", { asOfMs: inFlight.asOfMs, sequence: 2 }))).toBe("saved");
    expect(await save(business, inFlight)).toBe("older");
    expect(await rows("documents", business, "status")).toEqual([{ status: "completed" }]);
  });

  it("is not replaced by the record of another sale's credit note that was never issued", async () => {
    const business = someBusiness();
    const sale = documentOf("INV-1", { id: "sal_1" });
    await save(business, recordOf("INV-1", { document: sale }));
    const note = (originalSaleId: string, more: Partial<DocumentRecord>) =>
      recordOf("CN-1", { type: "credit_note", originalSaleId, movements: [], document: null, ...more });
    const document = documentOf("CN-1", { type: "credit_note", originalSaleId: "sal_1" });
    // Refused later than the other one was signed, but kept before it.
    const refused = note("sal_2", { asOfMs: 1_763_600_000_900 });
    const signed = note("sal_1", { document, asOfMs: 1_763_600_000_100 });
    const answers = [await save(business, refused), await save(business, signed), await save(business, refused)];
    expect(answers).toEqual(["saved", "saved", "of-another"]);
    const { creditNote } = (await test.ledger.records.findSale(business, "INV-1")) ?? {};
    expect(creditNote).toMatchObject({ record: { originalSaleId: "sal_1", document: { id: document.id } } });
    expect((await test.ledger.records.verify(business)).findings).toEqual([]);
  });

  it("loses the lines and movements that the document has no more", async () => {
    const business = someBusiness();
    await save(business, recordOf("INV-1"));
    const [line] = documentOf("INV-1").lines;
    const document = documentOf("INV-1", { lines: line ? [line] : [] });
    await save(business, recordOf("INV-1", { document, movements: [], asOfMs: 1_763_600_000_001 }));
    expect(await rows("documents", business, "jsonb_array_length(document -> 'lines') as lines")).toEqual([
      { lines: 1 },
    ]);
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
    await save(business, recordOf("INV-1", { attentionChanges: [raised] }));
    const later = { attentionChanges: [raised, cleared], decisions: [decision], asOfMs: 1_763_600_000_001 };
    await save(business, recordOf("INV-1", later));
    await save(business, recordOf("INV-1", later));
    expect(await eventKinds(business)).toEqual(["document-saved", "attention-raised", "attention-cleared", "decided"]);
    expect((await test.ledger.events.read(business)).map(({ operator }) => operator)).toEqual([
      undefined,
      { code: "stock-unknown" },
      { code: "stock-unknown" },
      { update: "resolveStock", code: "stock-unknown" },
    ]);
  });
});

describe("the verification of records", () => {
  async function findings(business: Business): Promise<unknown[]> {
    return (await test.ledger.records.verify(business)).findings;
  }

  it("finds nothing in unaltered rows", async () => {
    const business = someBusiness();
    for (let n = 0; n < 101; n++) await save(business, recordOf(`INV-${n}`));
    const waiting = recordOf("INV-0", { type: "credit_note", document: null, movements: [], originalSaleId: "sale_1" });
    await save(business, waiting);
    expect(await test.ledger.records.verify(business)).toEqual({
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
      { kind: "row-behind", table: "documents", event: 0, last: 1 },
    ],
  ])("finds the alteration: %s", async (statement, finding) => {
    const business = someBusiness();
    await save(business, recordOf("INV-1"));
    await test.outside.query(statement, [business.businessId]);
    expect(await findings(business)).toMatchObject([{ subject: "sale INV-1", ...finding }]);
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
