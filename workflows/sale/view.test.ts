import { describe, expect, test } from "vitest";

import { sampleSale } from "../../src/compliance/test-support/samples.ts";
import { ATTENTION_CODES, type Attention, RESOLVED_BY } from "../../src/contract/index.ts";
import { detailsOf } from "./view.ts";
import { SaleState } from "./state.ts";

/** A run as it stands, outside a workflow: nothing is published. */
class StandingRun extends SaleState {
  readonly #needed: Attention[];

  constructor(needed: Attention[] = []) {
    super("sale", "INV-1", "awaiting-authority");
    this.#needed = needed;
    this.waitingFor = "the authority: the next look";
  }

  override get attentions(): Attention[] {
    return this.#needed;
  }
}

function attention(code: Attention["code"], subject?: string): Attention {
  const resolvedBy = RESOLVED_BY[code];
  return {
    code,
    message: `What happened to ${code}.`,
    sinceMs: 0,
    resolvedBy,
    ...(subject !== undefined && { subject }),
  };
}

/** The JSON that each update is to be sent with, by the update's name. */
function payloadsIn(details: string): Record<string, unknown> {
  const shown = [...details.matchAll(/Update `(\w+)` with\n\n```json\n(.*)\n```/g)];
  return Object.fromEntries(shown.map(([, update, json]) => [String(update), JSON.parse(String(json)) as unknown]));
}

describe("the details of a run", () => {
  test("say where it stands and what it waits for", () => {
    expect(detailsOf(new StandingRun())).toBe(
      "**Stage:** awaiting-authority\n\n**Waits for:** the authority: the next look",
    );
  });

  test("name the document and its status", () => {
    const run = new StandingRun();
    run.document = sampleSale({ status: "pending" });
    expect(detailsOf(run)).toContain("**Stage:** awaiting-authority · document `sal_1` is `pending`");
  });

  test("count the stock movements of a large sale, and list those that are under way or need a person", () => {
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
        "- `INV-1/item_900/sold`: DEDUCT 1 of `item_900`, unknown",
        "- `INV-1/item_901/sold`: DEDUCT 1 of `item_901`, sending",
        "- others: 900 applied, 98 planned",
      ].join("\n"),
    );
  });

  test("list the stock movements with their states", () => {
    const run = new StandingRun();
    run.movements.push({
      referenceId: "INV-1/tea/sold",
      purpose: "sold",
      action: "DEDUCT",
      itemId: "tea",
      quantity: 2,
      unitPrice: 350,
      state: "unknown",
    });
    expect(detailsOf(run)).toContain("- `INV-1/tea/sold`: DEDUCT 2 of `tea`, unknown");
  });

  test("say that a cancellation was asked for, until it is carried out", () => {
    const run = new StandingRun();
    run.cancelRequested = "wrong till";
    expect(detailsOf(run)).toContain("**Cancellation asked for:** wrong till.");
    run.stage = "cancelled";
    expect(detailsOf(run)).not.toContain("Cancellation asked for");
  });

  test("point to the credit note where that one needs a person", () => {
    const run = new StandingRun();
    run.creditNoteWorkflowId = "credit-note/default/biz_1/sal_1";
    run.creditNoteAttention = "rejected";
    expect(detailsOf(run)).toMatch(/workflow `credit-note\/default\/biz_1\/sal_1`[^]*needs a person \(`rejected`\)/);
  });

  test.each(ATTENTION_CODES)(
    "say for %s what happened, and name each update that resolves it, with its JSON",
    (code) => {
      const details = detailsOf(new StandingRun([attention(code)]));
      expect(details).toContain(`### Needs a person: ${code}`);
      expect(details).toContain(`What happened to ${code}.`);
      expect(Object.keys(payloadsIn(details))).toEqual([...RESOLVED_BY[code]]);
    },
  );

  test("name the movement in the JSON that answers for it", () => {
    const run = new StandingRun([attention("stock-unknown", "INV-1/tea/sold")]);
    expect(payloadsIn(detailsOf(run))).toEqual({
      resolveStock: { referenceId: "INV-1/tea/sold", applied: true, note: expect.any(String) },
    });
  });

  test("name code and subject in the JSON that acknowledges", () => {
    const run = new StandingRun([attention("stock-unreported", "INV-1/tea/sold")]);
    expect(payloadsIn(detailsOf(run))).toEqual({
      acknowledge: { code: "stock-unreported", subject: "INV-1/tea/sold", note: expect.any(String) },
    });
  });

  test("leave the subject out where there is none", () => {
    const run = new StandingRun([attention("mismatch")]);
    expect(payloadsIn(detailsOf(run))).toEqual({ acknowledge: { code: "mismatch", note: expect.any(String) } });
  });

  test("keep the order of the attentions", () => {
    const run = new StandingRun([attention("rejected"), attention("mismatch")]);
    expect([...detailsOf(run).matchAll(/Needs a person: ([\w-]+)/g)].map(([, code]) => code)).toEqual([
      "rejected",
      "mismatch",
    ]);
  });
});
