import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";

import {
  ATTENTION_CODES,
  type AttentionCode,
  MAIN_TASK_QUEUE,
  STATE_QUERY,
  syncBatchWorkflowId,
  WORKFLOW_TYPES,
  type WorkflowState,
} from "../../src/contract/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { salesOf } from "../rig/sales-of.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { findBrowser, openBrowser, type OperatorsBrowser } from "./operators-browser.ts";

const KEY = "cmp_sk_test_simulator";
const SCOPES = ["sales:read", "sales:write", "catalog:read", "catalog:write", "stock:write", "purchases:read"] as const;
const executablePath = await findBrowser();

interface Case {
  /** Brings the simulator to what needs an operator, and starts what meets it. @returns the workflow's id */
  arrange: (invoice: string) => Promise<string>;
  /** The update that the operator sends, as the details show it: its name, and a text that its JSON holds. */
  sends: readonly [name: string, having?: string];
  /** What only the operator can know: replaces the text in quotes after a field of the JSON. */
  says?: (invoice: string) => Record<string, string>;
  /** What the operator corrects outside Temporal before sending it. */
  corrects?: (invoice: string) => void;
  /** What happens in the world after it: before, the workflow would see it for itself and go on without an operator. */
  follows?: (invoice: string) => void;
  /** What the workflow's result shows. */
  ends: Record<string, unknown>;
}

const describeInBrowser = executablePath === undefined ? describe.skip : describeWithTemporal;

describeInBrowser("an operator who has only Temporal's UI", () => {
  let rig: Rig;
  let operator: OperatorsBrowser;
  beforeAll(async () => {
    rig = await startRig({
      accounting: true,
      timings: { resubmissions: 1, resubmissionWindowMs: 50, callTimeoutMs: 1_000 },
      // Without a trusted key, so that a lost answer to a creation is an operator's to resolve.
      env: { COMPLIANCE_DIALECT: JSON.stringify({ createSale: { idempotencyKey: "off" } }) },
      simulator: { ignoreIdempotencyKeyOnSales: true },
    });
    operator = await openBrowser(inject("temporalUiUrl") ?? "", rig.namespace, executablePath ?? "");
  });
  afterAll(async () => {
    await operator?.close();
    await rig?.close();
  });

  const { start } = salesOf(() => rig);
  const completed = { stage: "completed" };
  const accept = (invoice: string): void => rig.simulator.setAuthority(invoice, [{ do: "accept" }]);
  const sold = (invoice: string) => ({ referenceId: `${invoice}/item_tea/sold` });
  const started = async (...args: Parameters<typeof start>) => (await start(...args)).workflowId;

  const CASES: Record<AttentionCode, Case> = {
    rejected: {
      arrange: (invoice) => {
        rig.simulator.setAuthority(invoice, [{ do: "reject", reason: "wrong tax band" }]);
        return started(invoice);
      },
      corrects: accept,
      sends: ["retry"],
      ends: completed,
    },
    "item-unknown": {
      arrange: (invoice) => started(invoice, { lines: [{ sku: "UGALI-1", quantity: 1, unitPrice: 90 }] }),
      sends: ["cancel"],
      ends: { stage: "cancelled" },
    },
    "item-needs-data": {
      arrange: (invoice) => started(invoice, { lines: [{ itemId: "item_incomplete", quantity: 1, unitPrice: 75 }] }),
      sends: ["cancel"],
      ends: { stage: "cancelled" },
    },
    "item-rejected": {
      arrange: (invoice) => {
        const registration = { registrationStatus: "PENDING", registration: { reject: "class" } } as const;
        rig.simulator.addItem({ id: "refused", businessId: "biz_1", name: "Refused", unitPrice: 1, ...registration });
        return started(invoice, { lines: [{ itemId: "refused", quantity: 1, unitPrice: 1 }] });
      },
      corrects: () => rig.simulator.updateItem("refused", { registration: ["accept"] }),
      sends: ["retry"],
      ends: completed,
    },
    "invalid-request": {
      arrange: (invoice) => {
        rig.simulator.inject({
          operation: "createSale",
          when: "before",
          kind: "status",
          status: 400,
          body: { error: { code: "invalid_request", message: "paymentTypeCode" } },
          match: { invoice },
          times: 1,
        });
        return started(invoice);
      },
      corrects: accept,
      sends: ["retry"],
      ends: completed,
    },
    "not-found": {
      arrange: (invoice) => {
        const issued = rig.simulator.issueSale({
          businessId: "biz_1",
          traderInvoiceNumber: invoice,
          lines: [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }],
          status: "completed",
        });
        const body = { error: { code: "not_found", message: "no such sale" } };
        const gone = { operation: "readSale", when: "before", kind: "status", status: 404, body, times: 1 } as const;
        rig.simulator.inject({ ...gone, match: { saleId: issued.id } });
        return started(invoice, { saleId: issued.id });
      },
      sends: ["retry"],
      ends: completed,
    },
    credentials: {
      arrange: (invoice) => {
        rig.simulator.setKey(KEY, { scopes: SCOPES.filter((scope) => scope !== "sales:write") });
        return started(invoice);
      },
      corrects: () => rig.simulator.setKey(KEY, { scopes: [...SCOPES] }),
      sends: ["retry"],
      ends: completed,
    },
    "document-unknown": {
      arrange: (invoice) => {
        rig.simulator.inject({ operation: "createSale", when: "after", kind: "drop", times: 1, match: { invoice } });
        return started(invoice);
      },
      sends: ["resolveDocument", "saleId"],
      says: (invoice) => ({ saleId: rig.simulator.documents(invoice)[0]?.id ?? "" }),
      ends: completed,
    },
    "batch-unknown": {
      arrange: async (syncBatchId) => {
        rig.simulator.accounting.addSyncBatch({ id: syncBatchId });
        rig.simulator.inject({
          operation: "processSyncBatch",
          match: { syncBatchId },
          times: 1,
          when: "after",
          kind: "drop",
        });
        const workflowId = syncBatchWorkflowId({ connection: "default", syncBatchId });
        const args = [{ syncBatchId }];
        await rig.client.workflow.start(WORKFLOW_TYPES.processSyncBatch, {
          taskQueue: MAIN_TASK_QUEUE,
          workflowId,
          args,
        });
        return workflowId;
      },
      sends: ["resolveBatch", '"processed":true'],
      ends: { saidBy: "person" },
    },
    "already-credited": {
      arrange: async (invoice) => {
        const { document } = await soldWithWindow(invoice);
        const headers = { "x-api-key": KEY, "content-type": "application/json" };
        const body = {
          traderInvoiceNumber: "CN-FOREIGN",
          returnDate: "2026-11-21",
          saleId: document?.id,
          reason: "06",
        };
        const url = `${rig.simulator.url}/v1/credit-notes?businessId=biz_1`;
        await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
        await rig.starter.refund({ invoice }, { reason: "06", traderInvoiceNumber: "CN-OURS" }, { waitSeconds: 20 });
        return rig.starter.workflowId({ invoice });
      },
      sends: ["acknowledge"],
      ends: { creditNote: { traderInvoiceNumber: "CN-FOREIGN" } },
    },
    "correction-incomplete": {
      arrange: async (invoice) => {
        await soldWithWindow(invoice);
        const correctedBy = `${invoice}-NEW`;
        rig.simulator.setAuthority(correctedBy, [{ do: "reject", reason: "wrong PIN" }]);
        const lines = [{ itemId: "item_tea", quantity: 1, unitPrice: 350 }];
        const replaceWith = { traderInvoiceNumber: correctedBy, lines };
        const request = { reason: "06", traderInvoiceNumber: "CN-GONE", replaceWith } as const;
        const { workflowId } = await rig.starter.correct({ invoice }, request);
        const heldUp = async () => (await rig.starter.correction({ invoice }))?.heldUp;
        await expect.poll(heldUp).toBe("rejected");
        await rig.starter.cancel({ invoice: correctedBy }, { reason: "the buyer has gone" });
        return workflowId;
      },
      sends: ["acknowledge"],
      ends: { stage: "credited" },
    },
    mismatch: {
      arrange: (invoice) => started(invoice, { expectedTotal: 712 }),
      sends: ["acknowledge"],
      ends: completed,
    },
    "unexpected-answer": {
      arrange: async (invoice) => {
        rig.simulator.setAuthority(invoice, [{ do: "down" }]);
        const workflowId = await started(invoice, { callback: "off" });
        const { document } = await rig.stateWhen(invoice, ({ stage }) => stage === "awaiting-authority");
        const body = { data: { sale: { ...document, status: "on_holiday" } } };
        const strange = { operation: "readSale", when: "after", kind: "status", status: 200, body } as const;
        endStrangeAnswer = rig.simulator.inject({ ...strange, match: { saleId: document?.id ?? "" } });
        return workflowId;
      },
      follows: (invoice) => {
        endStrangeAnswer();
        accept(invoice);
      },
      sends: ["retry"],
      ends: completed,
    },
    "stock-unknown": {
      arrange: (invoice) => {
        const lost = { operation: "adjustStock", when: "after", kind: "drop", times: 1 } as const;
        rig.simulator.inject({ ...lost, match: sold(invoice) });
        return started(invoice);
      },
      sends: ["resolveStock", '"applied":true'],
      ends: { ...completed, stockMovements: [{ state: "applied", decision: { applied: true } }] },
    },
    "stock-refused": {
      arrange: (invoice) => {
        const body = { error: { code: "stock_locked", message: "stocktaking" } };
        const refused = {
          operation: "adjustStock",
          when: "before",
          kind: "status",
          status: 422,
          body,
          times: 1,
        } as const;
        rig.simulator.inject({ ...refused, match: sold(invoice) });
        return started(invoice);
      },
      sends: ["retry"],
      ends: { ...completed, stockMovements: [{ state: "applied" }] },
    },
    "stock-unreported": {
      arrange: (invoice) => {
        const fiscalReport = { stockIo: "error", stockMaster: "ok" } as const;
        rig.simulator.addItem({
          id: "unreported",
          businessId: "biz_1",
          name: "Unreported",
          unitPrice: 5,
          fiscalReport,
        });
        return started(invoice, { lines: [{ itemId: "unreported", quantity: 1, unitPrice: 5 }] });
      },
      sends: ["acknowledge"],
      ends: { ...completed, stockMovements: [{ state: "applied", report: { stockIo: "error" } }] },
    },
    "authority-slow": {
      arrange: async (invoice) => {
        await rig.stopWorkers();
        rig.config.timings.slowAfterMs = 300;
        await rig.startWorkers();
        rig.simulator.setAuthority(invoice, [{ do: "down" }]);
        return await started(invoice, { callback: "off" });
      },
      follows: accept,
      sends: ["retry"],
      ends: completed,
    },
  };

  let endStrangeAnswer = (): void => {};

  async function soldWithWindow(invoice: string) {
    await started(invoice, { refundWindow: "1 day" });
    return await rig.stateWhen(invoice, ({ stage }) => stage === "completed");
  }

  const SAID = { note: "seen in the dashboard", reason: "the customer left" };

  /** With what only the operator knows in the place of what the details give as an example. */
  function filledIn(json: string, said: Record<string, string>): string {
    const replaced = Object.fromEntries(Object.entries(said).filter(([field]) => json.includes(`"${field}"`)));
    return JSON.stringify({ ...(JSON.parse(json) as object), ...replaced }, null, 2);
  }

  test.for(ATTENTION_CODES)("resolves %s by what the details say", async (code) => {
    const { arrange, sends, says, corrects, follows, ends } = CASES[code];
    const invoice = `UI-${code}`;
    const workflowId = await arrange(invoice);
    const handle = rig.client.workflow.getHandle(workflowId);
    const open = async () => (await handle.query<Pick<WorkflowState, "attentions">>(STATE_QUERY)).attentions;
    await expect.poll(open).toMatchObject([{ code }]);

    const shown = await operator.open(workflowId, code);
    await operator.picture(`needs-operator-${code}`);
    const [name, having = ""] = sends;
    const chosen = shown.find((update) => update.name === name && update.json.replaceAll(/\s/g, "").includes(having));
    expect(chosen, `what can be read whole: ${JSON.stringify(shown)}`).toBeDefined();
    corrects?.(invoice);
    await operator.send({ name, json: filledIn(chosen?.json ?? "", { ...SAID, ...says?.(invoice) }) });
    follows?.(invoice);
    expect(await handle.result()).toMatchObject(ends);
  });

  test("finds what needs an operator by the runbook's query, and reads in the history what was done", async () => {
    rig.simulator.setAuthority("UI-LIST-1", [{ do: "reject", reason: "wrong tax band" }]);
    const workflowId = await started("UI-LIST-1");
    const query = 'FiscalAttention is not null and ExecutionStatus = "Running"';
    const listed = async () => (await rig.client.workflow.count(query)).count;
    await expect.poll(listed).toBe(1);
    await operator.show(`workflows?query=${encodeURIComponent(query)}`, workflowId);
    await operator.picture("needs-operator-list");
    rig.simulator.setAuthority("UI-LIST-1", [{ do: "accept" }]);
    await rig.starter.retry({ invoice: "UI-LIST-1" }, { note: "band corrected" });
    await rig.client.workflow.getHandle(workflowId).result();
    await operator.show(`workflows/${encodeURIComponent(workflowId)}`, "Take 2");
    await operator.picture("history-of-a-sale");
    expect(await listed()).toBe(0);
  });
});
