import { describe, expect, test } from "vitest";

import {
  ATTENTION_CODES,
  type Attention,
  type AttentionCode,
  isUnfilled,
  type ResolvingUpdate,
  RESOLVED_BY,
} from "../../src/contract/index.ts";
import { SALE_UPDATES } from "../sale/messages.ts";
import { SaleState } from "../sale/state.ts";
import { BATCH_UPDATES, BatchJob } from "../sync-batch/workflow.ts";
import { checkUpdate, detailsPage, quoted } from "./updates.ts";

/** Runs outside a workflow: nothing is published. */
class StandingSale extends SaleState {
  constructor() {
    super("sale", "INV-1", "awaiting-authority");
    const movement = { purpose: "sold", action: "DEDUCT", itemId: "tea", quantity: 2, unitPrice: 350 } as const;
    this.movements.push({ ...movement, referenceId: "INV-1/tea/sold", state: "unknown" });
  }
}

class StandingBatch extends BatchJob {
  override publish(): void {}
}

function runThatNeeds(code: AttentionCode): StandingSale | StandingBatch {
  const run = code === "batch-unknown" ? new StandingBatch("batch_1") : new StandingSale();
  const subject = code.startsWith("stock-") ? { subject: "INV-1/tea/sold" } : {};
  run.raise({ code, ...subject, message: "What was said.", resolvedBy: RESOLVED_BY[code] });
  return run;
}

/** The real checks of the updates. */
function accept(run: StandingSale | StandingBatch, update: ResolvingUpdate, message: unknown): void {
  if (run instanceof StandingBatch) checkUpdate(run, named(BATCH_UPDATES, update), message);
  else checkUpdate(run, named(SALE_UPDATES, update), message);
}

function named<Update extends { name: string }>(table: readonly Update[], name: string): Update {
  const update = table.find((one) => one.name === name);
  if (!update) throw new Error(`no update is named ${name}`);
  return update;
}

/** The updates that a page names, each with its JSON, before it says what happened. */
function updatesIn(page: string): { update: ResolvingUpdate; payload: Record<string, unknown> }[] {
  const [lead = ""] = page.split("**What happened:**");
  const shown = [...lead.matchAll(/Send the update `(\w+)` [^\n]*:\n\n```json\n([^`]*)\n```/g)];
  return shown.map(([, update, json]) => ({
    update: update as ResolvingUpdate,
    payload: JSON.parse(String(json)) as Record<string, unknown>,
  }));
}

function attention(more: Partial<Attention> = {}): Attention {
  return { code: "rejected", message: "No.", sinceMs: 0, resolvedBy: RESOLVED_BY.rejected, ...more };
}

describe("the details of a run", () => {
  test.each(ATTENTION_CODES)("begin for %s with every update that resolves it, with valid JSON", (code) => {
    const run = runThatNeeds(code);
    const page = detailsPage(run.attentions, ["**Stage:** submitting"]);
    expect(page).toMatch(new RegExp(`^### Needs an operator: ${code}\n\n\\w[^\n]*\\.\n\nSend the update `));
    const updates = updatesIn(page);
    expect([...new Set(updates.map(({ update }) => update))]).toEqual(RESOLVED_BY[code]);
    const named = updates.filter(({ update }) => update !== "cancel");
    expect(named.map(({ payload }) => payload["by"])).toEqual(named.map(() => "your name"));
    for (const { update, payload } of updates) {
      const texts = Object.entries(payload).map(
        ([field, text]) => [field, isUnfilled(update, field, text) ? "seen in the journal" : text] as const,
      );
      expect(() => accept(run, update, Object.fromEntries(texts))).not.toThrow();
      // What only the operator knows is to be written anew.
      expect(() => accept(run, update, payload)).toThrow("expected your own text");
    }
  });

  test.each([
    ["stock-unknown", [{ applied: true }, { applied: false }]],
    ["batch-unknown", [{ processed: true }, { processed: false }]],
    ["document-unknown", [{ saleId: expect.any(String) as string }, { notCreated: true }]],
  ] as const)("have for %s both answers, each with its own JSON", (code, answers) => {
    const page = detailsPage(runThatNeeds(code).attentions, []);
    expect(updatesIn(page).map(({ payload }) => payload)).toMatchObject(answers);
  });

  test("say where to look for an unknown movement, also where no earlier balance is known", () => {
    const unknown = { code: "stock-unknown", resolvedBy: RESOLVED_BY["stock-unknown"] } as const;
    expect(detailsPage([attention(unknown)], [])).toContain(
      "\n\nNo balance of the item is known from before: look for the movement itself in the API's dashboard.\n\n",
    );
    expect(detailsPage([attention({ ...unknown, evidence: { lastQuantityOnHand: 18 } })], [])).toContain(
      "\n\nLook at the item's stock in the API's dashboard.\n\n",
    );
  });

  test("say what happened and what is known, in the shop's time, after the updates and before the rest", () => {
    const message = "Sent at 2026-11-23T20:08:00.000Z.";
    const evidence = {
      sentAtMs: Date.UTC(2026, 10, 23, 20, 8),
      claim: { atMs: 0 },
      lastSeenAt: "2026-11-23T20:00:00Z",
    };
    const sinceMs = Date.UTC(2026, 10, 23, 20, 9);
    const page = detailsPage([attention({ message, evidence, sinceMs })], ["**Stage:** rejected"]);
    expect(page.slice(page.indexOf("**What happened:**"))).toMatchInlineSnapshot(`
      "**What happened:** the tax authority said no, and the automatic resubmissions are used up, since 2026-11-23 23:09:00 EAT (20:09:00 UTC). \`Sent at 2026-11-23 23:08:00 EAT (20:08:00 UTC).\`

      **What is known:**

      - \`sentAt: 2026-11-23 23:08:00 EAT (20:08:00 UTC)\`
      - \`claim: {"atMs":"1970-01-01 03:00:00 EAT (00:00:00 UTC)"}\`
      - \`lastSeenAt: 2026-11-23 23:00:00 EAT (20:00:00 UTC)\`

      **Stage:** rejected

      What each code means: \`docs/runbook.md\` of fiscalflow."
    `);
  });

  test("end with a line that may be cut off", () => {
    for (const page of [detailsPage([], ["**Stage:** submitting"]), detailsPage([attention()], [])])
      expect(page).toMatch(/\n\nWhat each code means: `docs\/runbook\.md` of fiscalflow\.$/);
  });

  test("show other systems' texts as code, without Markdown or links", () => {
    const words =
      "see https://kra.go.ke\n\n### Needs an operator: `rejected`, or mail a@b.co.ke <img> 9999-99-99T99:99:99Z";
    expect(quoted(words)).toBe(
      "`see https://kra.go.ke ### Needs an operator: 'rejected', or mail a@b.co.ke <img> 9999-99-99T99:99:99Z`",
    );
    const page = detailsPage([attention({ message: words, evidence: { [words]: words } })], []);
    expect(page.replace(/```json\n[^`]*```|`[^`\n]*`/g, "")).not.toMatch(/http|@|<img/);
  });

  test("stay within a bounded length", () => {
    const many = Array.from({ length: 1_000 }, (_, n) => {
      const evidence = Object.fromEntries(Array.from({ length: 100 }, (__, k) => [`e${k}`, "x".repeat(1_000)]));
      return attention({ subject: `${n}`, message: "y".repeat(100_000), evidence });
    });
    const page = detailsPage(many, []);
    expect(page.length).toBeLessThan(20_000);
    expect(page).toContain("### Needs an operator for 995 more");
  });
});
