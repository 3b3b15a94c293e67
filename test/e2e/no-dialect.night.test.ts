import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { AccountingConnection, ComplianceConnection } from "../../src/config/index.ts";
import {
  MAIN_TASK_QUEUE,
  saleWorkflowId,
  STATE_QUERY,
  syncBillPaymentsWorkflowId,
  syncPurchasesWorkflowId,
} from "../../src/contract/index.ts";
import { startSimulator, type Simulator } from "../../src/dev/simulator/index.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { PATIENCE_MS } from "../rig/patience.ts";
import { dayOf, purchaseOf } from "../rig/purchases.ts";
import { leavesOf, renamedDialects } from "../rig/renamed-dialect.ts";
import { type Rig, startRig } from "../rig/start-rig.ts";
import { setTimeout as pause } from "node:timers/promises";

/** Nothing that is exercised here depends on them, whatever they are. */
const WITHOUT_EFFECT: ReadonlyMap<string, string> = new Map([
  ["compliance.createSale.idempotencyKey", "says what the service does, and is no name"],
  ["compliance.register.branchBy", "the document says that both forms are accepted"],
  ["compliance.register.force", "sent on request alone"],
  ["compliance.errors.authorityRejected", "the status decides"],
  ["compliance.createItem", "off"],
  ["compliance.receiptDownload", "off"],
  ["compliance.identity", "off"],
  ["compliance.lookups", "off"],
  ["accounting.billPayments.paymentMethod", "never sent"],
  ["accounting.companies.list", "read by nothing but `fiscalflow dialect`"],
  [
    "compliance.purchases.to",
    "sent for the days of changed invoices alone: see activities/compliance/purchases.test.ts",
  ],
]);

/**
 * No answer of the API shows the branch of a document, or of a registration: a service that ignores it cannot be found
 * out.
 */
const SHOWN_BY_NO_ANSWER = ["compliance.createSale.fields.branch", "compliance.register.branch"];

/** What the service takes no notice of without harm: it is reported, and the sale goes on to its end. */
const HOLDS_NOTHING = [
  "compliance.stock.report",
  ...["saleDate", "paymentTypeCode", "callbackUrl"].map((field) => `compliance.createSale.fields.${field}`),
  ...["name", "phone", "email"].map((field) => `compliance.createSale.customerFields.${field}`),
];

const SALE_ID = "sal_elsewhere";
const SOLD_ELSEWHERE = { lines: [{ itemId: "item_delivery", quantity: 1, unitPrice: 200 }] };

interface Case {
  name: string;
  /** `all`: every setting is another one. */
  setting: string;
  strict: boolean;
  simulator: Simulator;
  workflowId: string;
}

interface Ended {
  closed: boolean;
  status: string;
  /** All that an operator is shown: attentions and observations. */
  told: string;
}

const renamed = renamedDialects();
const SETTINGS = ["all", ...leavesOf(renamed).map(([path]) => path)].filter((path) => !path.includes(".webhook."));

/** One setting as the service has it, the others as the product has them by default. */
function dialectOf(setting: string): { dialect: unknown; accountingDialect: unknown } {
  if (setting === "all") return { dialect: renamed.compliance, accountingDialect: renamed.accounting };
  const [service = "", ...path] = setting.split(".");
  const value = leavesOf(renamed).find(([leaf]) => leaf === setting)?.[1];
  const partial = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return {
    dialect: service === "compliance" ? partial : {},
    accountingDialect: service === "accounting" ? partial : {},
  };
}

/**
 * The dialect is found out, not guessed: until it is, nothing is lost, doubled, or parked without a word about the
 * setting.
 */
describeWithTemporal("without a dialect, a service with other names", () => {
  let rig: Rig;
  const cases: Case[] = [];
  const ends = new Map<string, Ended>();

  beforeAll(async () => {
    rig = await startRig({ accounting: true });
    await rig.stopWorkers();
    const [compliance] = rig.config.compliance;
    const [accounting] = rig.config.accounting;
    if (!compliance || !accounting) throw new Error("the rig has a connection of each service");
    for (const setting of SETTINGS) {
      for (const strict of [true, false]) cases.push(await startCase(setting, strict, compliance, accounting));
    }
    await rig.startWorkers();
    for (const one of cases) await startWorkflow(one);
    for (const [workflowId, end] of await endsOf(cases)) ends.set(workflowId, end);
  }, 6 * PATIENCE_MS);
  afterAll(async () => {
    for (const { simulator } of cases) await simulator.close();
    await rig?.close();
  });

  async function startCase(
    setting: string,
    strict: boolean,
    compliance: ComplianceConnection,
    accounting: AccountingConnection,
  ): Promise<Case> {
    const name = `c${cases.length}`;
    const purchases = Array.from({ length: 130 }, (_, n) => purchaseOf(n, n < 2 ? { status: "pulled" } : {}));
    const scenario = { purchases, accounting: { generatedBillPayments: 130 } };
    const refuseUnknownFields = strict;
    const simulator = await startSimulator({
      limitPerWindow: 100_000,
      scenario,
      refuseUnknownFields,
      ...dialectOf(setting),
    });
    simulator.accounting.changeSettings({ refuseUnknownFields: strict });
    const invoice = `INV-${name}`;
    simulator.setAuthority(invoice, [{ do: "reject", reason: "not now" }, { do: "accept" }]);
    rig.config.compliance.push({ ...compliance, name, baseUrl: simulator.url, application: "shared" });
    if (isOfAccounting(setting)) rig.config.accounting.push({ ...accounting, name, baseUrl: simulator.accounting.url });
    return { name, setting, strict, simulator, workflowId: workflowIdOf(setting, name) };
  }

  function workflowIdOf(setting: string, connection: string): string {
    if (isOfAccounting(setting)) return syncBillPaymentsWorkflowId(connection);
    if (isOfPurchases(setting)) return syncPurchasesWorkflowId({ connection, businessId: "biz_1" });
    return saleWorkflowId({ connection, businessId: "biz_1", traderInvoiceNumber: `INV-${connection}` });
  }

  async function startWorkflow({ setting, name: connection, workflowId, simulator }: Case): Promise<void> {
    const options = { workflowId, taskQueue: MAIN_TASK_QUEUE };
    const { workflow } = rig.client;
    if (isOfAccounting(setting)) {
      await workflow.start("syncBillPayments", { ...options, args: [{ connection, full: true }] });
    } else if (isOfPurchases(setting)) {
      const input = setting === "compliance.purchases.from" ? { from: dayOf(60) } : { full: true };
      await workflow.start("syncPurchases", { ...options, args: [{ connection, businessId: "biz_1", ...input }] });
    } else if (isOfCreditNotes(setting)) {
      simulator.issueSale({
        ...SOLD_ELSEWHERE,
        id: SALE_ID,
        businessId: "biz_1",
        traderInvoiceNumber: `INV-${connection}`,
      });
      if (setting === "compliance.errors.alreadyCredited") await creditElsewhere(simulator);
      const sale = { connection, businessId: "biz_1", traderInvoiceNumber: `INV-${connection}`, saleId: SALE_ID };
      const refund = { traderInvoiceNumber: `CN-${connection}`, reason: "06" };
      await workflow.start("sale", { ...options, args: [{ ...sale, refund }] });
    } else {
      const sale = {
        connection,
        businessId: "biz_1",
        branch: "01",
        traderInvoiceNumber: `INV-${connection}`,
        saleDate: "2026-11-02",
        paymentTypeCode: "02",
        customer: { name: "Wanjiku", pin: "A012345678Z", phone: "0700000001", email: "w@example.com" },
        lines: [
          { itemId: "item_tea", quantity: 2, unitPrice: 351 },
          { itemId: "item_new", quantity: 1, unitPrice: 5 },
        ],
        refundWindow: "0",
      };
      await workflow.start("sale", { ...options, args: [sale] });
    }
  }

  /** What each has come to: closed, or parked. */
  async function endsOf(open: readonly Case[]): Promise<Map<string, Ended>> {
    const ended = new Map<string, Ended>();
    for (const deadlineMs = Date.now() + 5 * PATIENCE_MS; ended.size < open.length;) {
      const parked: string[] = [];
      for await (const { workflowId, status, searchAttributes } of rig.client.workflow.list()) {
        if (!open.some((one) => one.workflowId === workflowId) || ended.has(workflowId)) continue;
        if (status.name !== "RUNNING") ended.set(workflowId, { closed: true, status: status.name, told: "" });
        else if (searchAttributes["FiscalAttention"]?.length) parked.push(workflowId);
      }
      for (const workflowId of parked) {
        const state: { attentions: { message: string }[] } = await rig.client.workflow
          .getHandle(workflowId)
          .query(STATE_QUERY);
        const told = state.attentions.map(({ message }) => message).join("\n");
        ended.set(workflowId, { closed: false, status: "RUNNING", told });
      }
      if (Date.now() > deadlineMs)
        throw new Error(
          `open: ${open
            .filter((one) => !ended.has(one.workflowId))
            .map(({ setting, strict }) => `${setting} ${strict}`)
            .join(", ")}`,
        );
      await pause(500);
    }
    const observations = await rig.ledger.observations.list(1);
    for (const { name, workflowId } of open) {
      const end = ended.get(workflowId);
      const own = observations.filter(({ connection }) => connection === name);
      if (end) end.told += own.map(({ subject, message }) => `\n${subject}: ${message}`).join("");
    }
    return ended;
  }

  const all = SETTINGS.flatMap((setting) => [
    { setting, strict: true, how: "refuses" },
    { setting, strict: false, how: "ignores" },
  ]);
  describe.each(all)("that differ in $setting and $how what it does not know", ({ setting, strict }) => {
    const found = (): { one: Case; end: Ended } => {
      const one = cases.find((candidate) => candidate.setting === setting && candidate.strict === strict);
      const end = one && ends.get(one.workflowId);
      if (!one || !end) throw new Error("every case has an end");
      return { one, end };
    };

    test("is detected and named, or served all the same", () => {
      expect(found().end).toMatchObject(expectedEnd(setting, strict));
    });

    test("causes no lost and no second document or movement", () => {
      const { one, end } = found();
      const documents = one.simulator.documents(`INV-${one.name}`);
      const creditNotes = one.simulator.documents().filter(({ type }) => type === "credit_note");
      expect(creditNotes.length).toBeLessThanOrEqual(1);
      const { movements } = one.simulator.books();
      expect(documents.length).toBeLessThanOrEqual(1);
      expect(new Set(movements.map(({ referenceId }) => referenceId)).size).toBe(movements.length);
      if (!end.closed || isOfAccounting(setting) || isOfPurchases(setting) || isOfCreditNotes(setting)) return;
      expect(documents).toMatchObject([{ status: "completed" }]);
      expect(movements.length).toBeGreaterThan(0);
    });
  });
});

function expectedEnd(setting: string, strict: boolean): object {
  const served = { closed: true, status: "COMPLETED" };
  if (WITHOUT_EFFECT.has(setting) || (!strict && SHOWN_BY_NO_ANSWER.includes(setting))) return served;
  const told = expect.stringMatching(namesOf(setting)) as string;
  return !strict && HOLDS_NOTHING.includes(setting) ? { ...served, told } : { told };
}

function isOfAccounting(setting: string): boolean {
  return setting.startsWith("accounting.");
}

function isOfPurchases(setting: string): boolean {
  return setting.startsWith("compliance.purchases.") || setting.startsWith("compliance.pull.");
}

function isOfCreditNotes(setting: string): boolean {
  return setting.startsWith("compliance.creditNote.") || setting === "compliance.errors.alreadyCredited";
}

/** Not by us: our credit note is refused, under a code that is not the dialect's. */
async function creditElsewhere({ url }: Simulator): Promise<void> {
  const body = { saleId: SALE_ID, traderInvoiceNumber: "CN-ELSEWHERE", reason: "06", returnDate: "2026-11-02" };
  const answer = await fetch(`${url}/v1/credit-notes?businessId=biz_1`, {
    method: "POST",
    headers: { "x-api-key": "cmp_sk_test_simulator", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(201);
}

/** The setting itself, or all of its group. */
function namesOf(setting: string): RegExp {
  // The credit note's id decides, whatever the code is called.
  if (setting === "compliance.errors.alreadyCredited") return /already credited/;
  if (setting === "all") return /createSale\.|businesses\./;
  const path = setting.split(".").slice(1);
  const group = `${path.slice(0, -1).join(".")}.*`;
  const escaped = [path.join("."), group].map((name) => name.replaceAll(/[.*]/g, String.raw`\$&`));
  return new RegExp(`(${escaped.join("|")})(?![A-Za-z])`);
}
