import { afterAll, beforeAll, expect, test } from "vitest";

import type { SaleInput, SaleOutcome } from "../../src/contract/index.ts";
import type { AuthorityStep, Fault } from "../../src/dev/simulator/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";

const SIGNED_LATER: AuthorityStep[] = [{ do: "accept", afterMs: 150 }];
const REFUSED_ONCE: AuthorityStep[] = [
  { do: "reject", reason: "Try again", afterMs: 100 },
  { do: "accept", afterMs: 100 },
];

/** Each fault strikes every callback of its sales; three of each, and two without any. */
const TROUBLES: { kind: Fault["kind"] | undefined; steps: AuthorityStep[]; sales: number }[] = [
  { kind: undefined, steps: SIGNED_LATER, sales: 2 },
  { kind: "lost", steps: SIGNED_LATER, sales: 3 },
  { kind: "early", steps: SIGNED_LATER, sales: 3 },
  { kind: "doubled", steps: SIGNED_LATER, sales: 3 },
  { kind: "out-of-order", steps: REFUSED_ONCE, sales: 3 },
  { kind: "forged", steps: [{ do: "down" }], sales: 3 },
  { kind: "late", steps: SIGNED_LATER, sales: 3 },
];

const SALES = TROUBLES.flatMap(({ kind, steps, sales }) =>
  Array.from({ length: sales }, (_, index) => ({ invoice: `${kind ?? "quiet"}-${index + 1}`, kind, steps })),
);

describeWithTemporal("callbacks that are lost, early, doubled, out of order, forged and late", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({
      simulator: { callbackRetryDelaysMs: [], seed: 20 },
      // Where no callback helps, polling has to: not after the twenty seconds of the other suites.
      timings: { firstPollWithCallbackMs: 1_000 },
    });
  });
  afterAll(() => rig?.close());

  test("end every one of 20 sales with the receipt that the authority signed, and a forgery changes nothing", async () => {
    for (const { invoice, kind, steps } of SALES) {
      rig.simulator.setAuthority(invoice, steps);
      if (kind !== undefined)
        rig.simulator.inject({ operation: "callback", when: "before", kind, probability: 1, match: { invoice } });
    }
    const lines = [{ itemId: "item_delivery", quantity: 1, unitPrice: 200 }];
    const handles = await Promise.all(
      SALES.map(async ({ invoice }) => {
        const input = { traderInvoiceNumber: invoice, lines, refundWindow: "0" } as const;
        const { workflowId } = await rig.starter.startSale(input);
        return rig.client.workflow.getHandle<(input: SaleInput) => Promise<SaleOutcome>>(workflowId);
      }),
    );

    for (const { invoice } of SALES.filter(({ kind }) => kind === "forged")) {
      const told = () => rig.simulator.books().callbacks.filter((sent) => sent.invoice === invoice);
      await rig.simulator.until(() => told().filter(({ responseStatus }) => responseStatus !== null).length === 2);
      expect(new Set(told().map(({ responseStatus }) => responseStatus))).toEqual(new Set([404, 202]));
      // It may overtake the answer to the create request.
      const state = await rig.stateWhen(invoice, ({ callbacksReceived, document }) => {
        return callbacksReceived === 1 && document !== null;
      });
      expect(state).toMatchObject({ stage: "awaiting-authority", document: { status: "pending", receipt: null } });
      rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
    }

    const outcomes = await Promise.all(handles.map((handle) => handle.result()));
    for (const [index, { invoice }] of SALES.entries()) {
      const documents = rig.simulator.documents(invoice);
      expect(documents).toMatchObject([{ status: "completed" }]);
      expect(documents[0]?.receipt?.cuInvoiceNo).toMatch(/./);
      expect(outcomes[index]).toMatchObject({ stage: "completed", receipt: documents[0]?.receipt });
    }
    const struck = TROUBLES.flatMap(({ kind, sales }) => (kind === undefined ? [] : [[kind, sales]]));
    expect(rig.simulator.books().faults.byKind).toEqual(Object.fromEntries(struck));
  });
});
