import { describe, expect, test } from "vitest";

import { sampleSale } from "../../src/compliance/test-support/samples.ts";
import { detailsOf, stateOf } from "./view.ts";
import { SaleState } from "./state.ts";

/** A run as it stands, outside a workflow: nothing is published. */
class StandingRun extends SaleState {
  constructor() {
    super("sale", "INV-1", "awaiting-authority");
    this.waitingFor = "the authority: the next look";
  }
}

describe("the details of a sale", () => {
  test("show its stage and what it waits for", () => {
    expect(detailsOf(new StandingRun())).toMatch(
      /^\*\*Stage:\*\* awaiting-authority\n\n\*\*Waits for:\*\* `the authority: the next look`\n/,
    );
  });

  test("say that it waits for an operator first, and for whatever goes on beside", () => {
    const run = new StandingRun();
    run.raise({ code: "stock-unknown", subject: "INV-1/tea/sold", message: "It was sent." });
    expect(detailsOf(run)).toContain(
      "**Waits for:** `an operator: stock-unknown; and for the authority: the next look`",
    );
  });

  test("name the document and its status", () => {
    const run = new StandingRun();
    run.document = sampleSale({ status: "pending" });
    expect(detailsOf(run)).toContain("**Stage:** awaiting-authority · document `sal_1` is `pending`");
  });

  test("count the stock movements of a large sale, and list those that are under way or need an operator", () => {
    const run = new StandingRun();
    const states = [
      ...Array<"applied">(900).fill("applied"),
      "unknown",
      "sending",
      ...Array<"planned">(98).fill("planned"),
    ];
    for (const [n, state] of states.entries())
      run.movements.push({
        referenceId: `INV-1/item_${n}/sold`,
        purpose: "sold",
        action: "DEDUCT",
        itemId: `item_${n}`,
        quantity: 1,
        unitPrice: 1,
        state: state as "applied",
      });
    expect(detailsOf(run)).toContain(
      [
        "**Stock movements**",
        "",
        "- `Take 1 × item_900 from stock`: unknown (`INV-1/item_900/sold`)",
        "- `Take 1 × item_901 from stock`: sending (`INV-1/item_901/sold`)",
        "- others: 900 applied, 98 planned",
      ].join("\n"),
    );
  });

  test("list the stock movements with their states, and the names of their items", () => {
    const run = new StandingRun();
    run.itemNames.set("tea", "Tea leaves");
    run.movements.push({
      referenceId: "INV-1/tea/sold",
      purpose: "sold",
      action: "DEDUCT",
      itemId: "tea",
      quantity: 2,
      unitPrice: 350,
      state: "unknown",
    });
    expect(detailsOf(run)).toContain("- `Take 2 × Tea leaves from stock`: unknown (`INV-1/tea/sold`)");
  });

  test("say that a cancellation was asked for, until it is carried out", () => {
    const run = new StandingRun();
    run.cancelRequested = "wrong till";
    expect(detailsOf(run)).toContain("**Cancellation asked for:** `wrong till`.");
    run.stage = "cancelled";
    expect(detailsOf(run)).not.toContain("Cancellation asked for");
  });

  test("say what its credit note waits for, and what it needs an operator for", () => {
    const run = new StandingRun();
    run.stage = "crediting";
    run.waitingFor = "the credit note CN-1";
    const note = run.beginCreditNote("CN-1");
    note.publish = () => undefined;
    note.waitingFor = "an operator";
    note.raise({ code: "rejected", message: "The authority said: no" });
    const details = detailsOf(run);
    expect(details).toMatch(/^### Needs an operator: rejected[^]*Credit note CN-1: The authority said: no/);
    expect(details).toContain("the credit note CN-1, which waits for an operator`");
    expect(details).toContain("**Credit note:** `CN-1`, submitting");
  });

  test("lead with what needs an operator, in its order", () => {
    const run = new StandingRun();
    for (const code of ["mismatch", "rejected"] as const) run.raise({ code, message: "" });
    expect(detailsOf(run)).toMatch(/^### Needs an operator: rejected[^]*### Needs an operator: mismatch[^]*Stage/);
  });
});

test("the state of a sale tells that its credit note is to be given up until that note has ended", () => {
  const run = new StandingRun();
  run.stage = "crediting";
  // Asked of the run before.
  run.creditNoteCancelRequested = { reason: "typed by mistake" };
  expect(stateOf(run)).toMatchObject({ creditNoteCancelRequested: "typed by mistake" });
  const note = run.beginCreditNote("CN-1");
  note.publish = () => undefined;
  run.creditNoteCancelRequested = undefined;
  expect(stateOf(run)).not.toHaveProperty("creditNoteCancelRequested");
  note.cancelRequested = "the wrong sale";
  expect(stateOf(run)).toMatchObject({ creditNoteCancelRequested: "the wrong sale" });
  note.stage = "cancelled";
  expect(stateOf(run)).not.toHaveProperty("creditNoteCancelRequested");
});
