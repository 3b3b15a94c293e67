import { expect, test } from "vitest";

import { SALE_UPDATES } from "./messages.ts";
import { SaleState } from "./state.ts";

/** A sale outside a workflow: nothing is published. */
class SilentSale extends SaleState {
  override publish(): void {}
}

test("a retry without a name leaves a credit note to a slow authority while the sale waits for one", () => {
  const sale = new SilentSale("sale", "INV-1", "completed");
  const note = new SilentSale("credit_note", "CN-1", "awaiting-authority");
  sale.creditNotes.push(note);
  const slow = note.raise({ code: "authority-slow", subject: "credit_note_1", message: "Pending for 60 minutes." });
  const refused = sale.raise({ code: "stock-refused", subject: "INV-1/tea/sold", message: "Too little on hand." });
  const retry = SALE_UPDATES.find(({ name }) => name === "retry");
  void retry?.act(sale, {});
  expect([note.retriesOf(slow), sale.retriesOf(refused)]).toEqual([0, 1]);
  void retry?.act(sale, { code: "authority-slow" });
  expect(note.retriesOf(slow)).toBe(1);
  sale.clear(refused);
  void retry?.act(sale, {});
  expect(note.retriesOf(slow)).toBe(2);
});
