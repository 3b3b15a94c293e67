import { describe, expect, test } from "vitest";

import { UPDATE_FORMS } from "../../src/contract/index.ts";
import { SALE_UPDATES } from "../sale/messages.ts";
import { SaleState } from "../sale/state.ts";
import { checkUpdate, problemsOf } from "./updates.ts";

/** A sale with a movement and a document of unknown outcome. */
function unknownSale(): SaleState {
  const run = new SaleState("sale", "INV-1", "awaiting-authority");
  const movement = { purpose: "sold", action: "DEDUCT", itemId: "tea", quantity: 2, unitPrice: 350 } as const;
  run.movements.push({ ...movement, referenceId: "INV-1/tea/sold", state: "unknown" });
  run.movements.push({ ...movement, referenceId: "INV-1/sugar/sold", state: "refused" });
  run.movements.push({ ...movement, referenceId: "INV-1/salt/sold", state: "applied" });
  run.decide({ update: "resolveStock", code: "stock-unknown", subject: "INV-1/salt/sold", note: "seen" }, 0);
  run.raise({ code: "document-unknown", message: "" });
  return run;
}

describe("an update", () => {
  test.each([
    ["cancel", undefined, "Expected the field reason with a text in it."],
    ["cancel", "now", "Expected one JSON object."],
    ["cancel", ["now"], "Expected one JSON object."],
    ["cancel", { reason: " " }, "Expected the field reason with a text in it."],
    ["cancel", { reasn: "wrong till" }, "Unknown field reasn; expected reason, by?."],
    [
      "resolveStock",
      { referenceId: "INV-1/tea/sold", applied: "yes", note: "x" },
      "Expected the field applied with true or false",
    ],
    ["resolveStock", { referenceId: "INV-1/tea", applied: true, note: "x" }, "unknown are: INV-1/tea/sold."],
    [
      "resolveStock",
      { referenceId: "INV-1/sugar/sold", applied: true, note: "x" },
      "The movement INV-1/sugar/sold is refused: its outcome is not in question.",
    ],
    [
      "resolveStock",
      { referenceId: "INV-1/salt/sold", applied: true, note: "x" },
      "The movement INV-1/salt/sold is applied: it was answered before.",
    ],
    [
      "resolveStock",
      { referenceId: "INV-1/tea/sold", applied: true, note: "x", by: 7 },
      "Expected the field by with a text",
    ],
    [
      "resolveDocument",
      { saleId: "sal_1", notCreated: true, note: "x" },
      "Expected either saleId or notCreated, found both.",
    ],
    ["resolveDocument", { note: "x" }, "Expected either saleId or notCreated, found neither."],
    ["resolveDocument", { notCreated: false, note: "x" }, "Expected the field notCreated with true in it."],
    ["resolveDocument", { saleId: " ", note: "x" }, "Expected the field saleId with a text in it."],
    ["outcome", { waitSeconds: "20" }, "Expected the field waitSeconds with a number from 0 to 60 in it."],
    ["outcome", { waitSeconds: 61 }, "Expected the field waitSeconds with a number from 0 to 60 in it."],
    ["acknowledge", { code: "mismatch", note: "x" }, "Nothing with the code mismatch waits to be acknowledged."],
    ["retry", { code: "rejcted" }, "Expected the field code with one of document-unknown, batch-unknown, "],
    [
      "resolveDocument",
      { notCreated: true, note: "how you know" },
      'note: expected your own text, found the example\'s "how you know". The sale is at stage',
    ],
    ["cancel", { reason: "why" }, "reason: expected your own text"],
    ["retry", { code: "rejected" }, "Nothing waits for a retry of rejected."],
  ])("%s is refused with %j: %s", (name, message, why) => {
    expect(() => check(name, message)).toThrow(why);
    expect(() => check(name, message)).toThrow("allowed updates: resolveDocument, cancel, outcome.");
  });

  test.each([
    ["outcome", undefined],
    ["outcome", null],
    ["outcome", { waitSeconds: 0 }],
    ["cancel", { reason: "wrong till" }],
    ["resolveStock", { referenceId: "INV-1/tea/sold", applied: false, note: "x", by: "" }],
    ["resolveDocument", { notCreated: true, note: "x" }],
  ])("%s is accepted with %j", (name, message) => {
    expect(() => check(name, message)).not.toThrow();
  });
});

test.each([
  [undefined, "Expected one JSON object."],
  [{ reason: "07" }, "Expected the field reason with one of 01, 02, 03, 04, 05, 06 in it."],
  [
    { traderInvoiceNumber: "CN\t1" },
    "Expected the field traderInvoiceNumber with a text of 1 to 50 printable characters in it.",
  ],
  [
    { traderInvoiceNumber: "\uD83E" },
    "Expected the field traderInvoiceNumber with a text of 1 to 50 printable characters in it.",
  ],
  [{ returnDate: "2026-02-30" }, "Expected the field returnDate with a date written YYYY-MM-DD in it."],
  [{ branch: "main" }, "Expected branch only together with restock."],
  [{ branch: "main", restock: false }, "Expected branch only together with restock."],
  [{ branch: "main", restock: true }, undefined],
])("a refund with %j: %s", (changes, complaint) => {
  const refund = changes && { reason: "06", traderInvoiceNumber: "CN-1", ...changes };
  expect(problemsOf(UPDATE_FORMS.refund, refund)).toEqual(complaint === undefined ? [] : [complaint]);
});

describe("an update of a sale with credit notes", () => {
  /** The first credit note was given up, and what it is to be acknowledged for stands. */
  function creditedSale(): SaleState {
    const run = new SaleState("sale", "INV-1", "crediting");
    run.prepared = true;
    for (const number of ["CN-1", "CN-2"]) run.beginCreditNote(number).publish = () => undefined;
    run.creditNotes[0]?.raise({ code: "mismatch", message: "" });
    return run;
  }

  test("is for any of them, by its number, and not for several at once where it names none", () => {
    const run = creditedSale();
    const seen = { code: "mismatch", note: "seen" } as const;
    expect(() => check("acknowledge", seen, run)).not.toThrow();
    run.raise({ code: "mismatch", message: "" });
    expect(() => check("acknowledge", seen, run)).toThrow(
      "Several wait for it. Name one by its subject: CN-1 or INV-1.",
    );
    expect(run.allAttentions.map(({ subject }) => subject)).toEqual([undefined, "CN-1"]);
    void named("acknowledge").act(run, { ...seen, subject: "CN-1" });
    expect(run.allAttentions.map(({ subject }) => subject)).toEqual([undefined]);
    expect(run.creditNotes[0]?.decisions).toMatchObject([{ update: "acknowledge", note: "seen" }]);
    expect(run.decisions).toEqual([]);
    expect(() => check("acknowledge", seen, run)).not.toThrow();
  });

  test("is for the sale alone, by the sale's own number", () => {
    const run = creditedSale();
    run.raise({ code: "mismatch", message: "" });
    const ofSale = { code: "mismatch", note: "seen", subject: "INV-1" } as const;
    expect(() => check("acknowledge", ofSale, run)).not.toThrow();
    void named("acknowledge").act(run, ofSale);
    expect(run.allAttentions.map(({ subject }) => subject)).toEqual(["CN-1"]);
    expect(run.decisions).toMatchObject([{ update: "acknowledge", note: "seen" }]);
    expect(run.creditNotes[0]?.decisions).toEqual([]);
  });

  test("cancels the credit note that a refund is about to begin", () => {
    const run = new SaleState("sale", "INV-1", "completed");
    run.prepared = true;
    expect(() => check("cancel", { reason: "why" }, run)).toThrow("A completed document cannot be cancelled");
    run.refund = { reason: "06", traderInvoiceNumber: "CN-1" };
    const asked = { reason: "the buyer keeps the goods", by: "njeri" };
    void named("cancel").act(run, asked);
    expect(run).toMatchObject({ creditNoteCancelRequested: asked, cancelRequested: undefined });
  });
});

function named(name: string) {
  const update = SALE_UPDATES.find((one) => one.name === name);
  if (!update) throw new Error(`no update is named ${name}`);
  return update;
}

function check(name: string, message: unknown, run = unknownSale()): void {
  checkUpdate(run, named(name), message);
}
