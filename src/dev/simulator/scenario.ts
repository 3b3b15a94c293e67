import { z } from "zod";

import { isCalendarDay } from "./request.ts";

/** A scenario, dialect, fault or control that the simulator cannot follow; names every problem with its path. */
export class InstructionError extends Error {
  override readonly name = "InstructionError";
  readonly problems: readonly string[];

  constructor(subject: string, problems: readonly string[]) {
    super(`The simulator cannot use this ${subject}: ${problems.join("; ")}`);
    this.problems = problems;
  }
}

/** Parses or throws an InstructionError whose problems read `scenario.items[0].unitPrice: …`. */
export function parseInstruction<S extends z.ZodType>(subject: string, schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => {
    const place = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
    return `${subject}${place}: ${message}`;
  });
  throw new InstructionError(subject, problems);
}

/** What is known under this id. */
export function known<T>(subject: string, all: ReadonlyMap<string, T>, id: string, at = subject): T {
  const found = all.get(id);
  if (found === undefined) throw new InstructionError(subject, [`${at}: there is no ${subject} "${id}"`]);
  return found;
}

/** Refuses an id that is taken. */
export function requireNew(subject: string, all: ReadonlyMap<string, unknown>, id: string, at = subject): void {
  if (all.has(id)) throw new InstructionError(subject, [`${at}.id: "${id}" exists`]);
}

const scopes = ["sales:read", "sales:write", "stock:write", "catalog:read", "catalog:write", "purchases:read"] as const;

const id = z.string().min(1).max(200);
const amount = z.number().min(0);
const day = z.string().refine(isCalendarDay, "must be a date written YYYY-MM-DD");
const organisation = z.string().min(1).default("organisation_1");
const text = z.string().nullable().default(null);

export const keySchema = z.strictObject({
  key: z.string().regex(/^cmp_sk_(test|live)_\S+$/, "must begin with cmp_sk_test_ or cmp_sk_live_"),
  /** The one business that the key is bound to; null for an organisation-wide key. */
  businessId: id.nullable().default(null),
  scopes: z.array(z.enum(scopes)).default([...scopes]),
  revoked: z.boolean().default(false),
});

const applicationSchema = z.strictObject({
  name: z.string().min(1),
  organisation,
  suspended: z.boolean().default(false),
  keys: z.array(keySchema),
  /** Overrides the simulator's limit for this application. */
  limitPerWindow: z.number().int().positive().optional(),
});

export const branchSchema = z.strictObject({ id, authorityBhfId: z.string().min(1), name: z.string().optional() });

export const businessSchema = z.strictObject({
  id,
  name: z.string().min(1),
  organisation,
  environment: z.enum(["sandbox", "production"]).default("sandbox"),
  /** The first is the default of every branch selector. */
  branches: z.array(branchSchema).min(1),
});

/** One registration attempt, or one for each attempt (the last repeats). */
const registrationStep = z.union([z.literal("accept"), z.strictObject({ reject: z.string().min(1) })]);

export const itemSchema = z.strictObject({
  id,
  businessId: id,
  externalId: z.string().optional(),
  sku: z.string().optional(),
  name: z.string().min(1),
  taxCategory: z.string().default("standard"),
  taxTypeCode: z.string().default("B"),
  productTypeCode: z.string().default("2"),
  classificationCode: z.string().default("50000000"),
  unitCode: z.string().default("U"),
  packagingUnitCode: z.string().default("NT"),
  unitPrice: amount,
  stockTracked: z.boolean().default(true),
  registrationStatus: z.string().default("REGISTERED"),
  needs: z
    .strictObject({ productType: z.boolean().default(false), classificationMapping: z.boolean().default(false) })
    .prefault({}),
  /** The stock of each branch. */
  onHand: z.record(z.string(), z.number()).default({}),
  registration: z.union([registrationStep, z.array(registrationStep).min(1)]).default("accept"),
  registrationAttempts: z.number().int().default(0),
  /** The two statuses of the tax system's report on a stock movement of this item. */
  fiscalReport: z
    .strictObject({ stockIo: z.string().default("ok"), stockMaster: z.string().default("ok") })
    .prefault({}),
  deleted: z.boolean().default(false),
});

const inFlightStatuses = ["pending", "ready_to_submit", "retrying"] as const;
export const documentStatuses = [...inFlightStatuses, "completed", "failed", "cancelled"] as const;
export type DocumentStatus = (typeof documentStatuses)[number];

const afterMs = z.number().int().min(0);
const status = z.enum(inFlightStatuses);

/**
 * What the scripted authority does with one submission: the creation is the first, each retry the next; the last step
 * of a script repeats. `afterMs` means 202 first and the decision later; `status` is the in-flight status until then
 * (default `pending`).
 */
export const authorityStepSchema = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("accept"), afterMs: afterMs.optional(), status: status.optional() }),
  z
    .strictObject({
      do: z.literal("reject"),
      reason: z.string().min(1),
      afterMs: afterMs.optional(),
      status: status.optional(),
      // The 422 names no document and none is kept.
      withoutDocument: z.boolean().optional(),
    })
    .refine((step) => !(step.withoutDocument === true && step.afterMs !== undefined), {
      path: ["withoutDocument"],
      message: "cannot go with afterMs: a document that answers later exists",
    }),
  // Stays in flight until the script changes.
  z.strictObject({ do: z.literal("down"), status: status.optional() }),
  z.strictObject({ do: z.literal("cancel"), afterMs: afterMs.optional(), status: status.optional() }),
]);

export type AuthorityStep = z.infer<typeof authorityStepSchema>;

export const authorityScriptSchema = z.array(authorityStepSchema).min(1);

export function isInFlight(status: DocumentStatus): boolean {
  return status === "pending" || status === "ready_to_submit" || status === "retrying";
}

/** A sale that exists although the API did not create it: issued in the dashboard or by another system. */
export const elsewhereSaleSchema = z.strictObject({
  id: id.optional(),
  businessId: id,
  branchId: id.optional(),
  traderInvoiceNumber: z.string().min(1).max(50),
  saleDate: day.nullable().default(null),
  paymentTypeCode: text,
  customer: z.strictObject({ name: text, pin: text, phone: text, email: text }).prefault({}),
  lines: z
    .array(
      z.strictObject({
        itemId: id,
        quantity: z.number().positive(),
        unitPrice: amount.optional(),
        description: text,
      }),
    )
    .min(1),
  status: z.enum(documentStatuses).default("completed"),
  error: text,
});

export const purchaseStatuses = ["pulled", "pending_review", "confirmed", "rejected"] as const;

export const purchaseSchema = z.strictObject({
  id,
  businessId: id,
  status: z.enum(purchaseStatuses).default("pulled"),
  supplier: z.strictObject({ name: z.string(), pin: z.string() }),
  supplierInvoiceNumber: z.string(),
  invoiceDate: day,
  branch: z.string().default("Main"),
  totals: z.strictObject({ subtotal: z.number(), vat: z.number(), total: z.number() }),
  lines: z
    .array(
      z.strictObject({
        description: z.string(),
        hsCode: text,
        quantity: z.number(),
        unitPrice: z.number(),
        taxRate: z.number(),
        taxAmount: z.number(),
        total: z.number(),
      }),
    )
    .default([]),
  confirmationError: text,
  /** False: only the tax authority holds it until POST /v1/purchases/pull. */
  stored: z.boolean().default(true),
});

export const paymentStatuses = ["pending", "syncing", "synced", "failed"] as const;
export const paymentMethods = ["cash", "check", "bank_transfer", "credit_card", "other"] as const;

/** A bill payment as the service shows it (document, "Bill payment"): what lists are sorted by, and all else as it is. */
export const billPaymentSchema = z.looseObject({
  id,
  totalAmount: z.number().nullish(),
  date: z.string().nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
});
export type BillPaymentBody = z.infer<typeof billPaymentSchema>;

/** What the service knows of a payment besides what it shows. */
export const hiddenFactsSchema = z.strictObject({
  /** Null: no filter by status finds it. */
  status: z.enum(paymentStatuses).nullable().default("pending"),
  method: z.enum(paymentMethods).default("bank_transfer"),
  companyId: id.default("company_1"),
});
export type HiddenFacts = z.infer<typeof hiddenFactsSchema>;

const operations = ["listCompanies", "listBillPayments", "processSyncBatch"] as const;

export const accountingApplicationSchema = z.strictObject({
  name: z.string().min(1),
  active: z.boolean().default(true),
  keys: z.array(
    z.string().regex(/^sk_(development|production)_\S+$/, "must begin with sk_development_ or sk_production_"),
  ),
  /** Null: its requests cannot be signed. */
  clientSecret: z
    .string()
    .regex(/^cs_\S+$/, "must begin with cs_")
    .nullable()
    .default(null),
  /** The companies it is authorized for; null for all. */
  companies: z.array(id).nullable().default(null),
  /** Operations that it is not authorized for. */
  denied: z.array(z.enum(operations)).default([]),
});
export type AccountingApplication = z.infer<typeof accountingApplicationSchema>;

export const syncBatchSchema = z.strictObject({
  id,
  companyId: id.default("company_1"),
  message: z.string().default("The batch was processed."),
  /** Answered instead of being processed. */
  refuse: z
    .strictObject({ status: z.number().int().min(400).max(499), message: z.string() })
    .nullable()
    .default(null),
});
export type SyncBatch = z.infer<typeof syncBatchSchema>;

/** The accounting service's part of a scenario. */
const accountingScenarioSchema = z.strictObject({
  applications: z
    .array(accountingApplicationSchema)
    .min(1)
    .prefault([{ name: "simulator", keys: ["sk_development_simulator"], clientSecret: "cs_simulator" }]),
  companies: z.array(z.looseObject({ id })).default([{ id: "company_1", name: "Duka la Mfano" }]),
  /** What is shown of each payment, and what is not. */
  billPayments: z
    .array(z.strictObject({ body: z.looseObject({ id }), facts: hiddenFactsSchema.prefault({}) }))
    .default([]),
  /** How many payments are made up besides, from a fixed seed. */
  generatedBillPayments: z.number().int().min(0).default(0),
  syncBatches: z.array(syncBatchSchema).prefault([{ id: "batch_1" }]),
});
export type AccountingScenario = z.infer<typeof accountingScenarioSchema>;

function item(key: string, sku: string, name: string, unitPrice: number, more: Partial<NewItem> = {}): NewItem {
  return { id: `item_${key}`, businessId: "biz_1", externalId: `ext-${key}`, sku, name, unitPrice, ...more };
}

const unregistered = { registrationStatus: "PENDING" };

/** What a simulator starts with where its scenario does not say. */
const builtIn = {
  applications: [{ name: "simulator", keys: [{ key: "cmp_sk_test_simulator" }] }],
  businesses: [
    {
      id: "biz_1",
      name: "Duka la Mfano",
      branches: [
        { id: "branch_1", authorityBhfId: "00", name: "Nairobi" },
        { id: "branch_2", authorityBhfId: "01", name: "Mombasa" },
      ],
    },
  ],
  taxRates: { A: 0, B: 16, C: 0, D: 0, E: 8 },
  items: [
    item("tea", "TEA-500", "Tea leaves 500 g", 350, { onHand: { branch_1: 100, branch_2: 40 } }),
    item("flour", "FLOUR-2", "Maize flour 2 kg", 210.5, {
      taxTypeCode: "A",
      taxCategory: "exempt",
      onHand: { branch_1: 500 },
    }),
    item("gas", "GAS-6", "Cooking gas 6 kg", 1250, { taxTypeCode: "E", onHand: { branch_1: 20 } }),
    item("delivery", "DELIVERY", "Delivery", 200, { productTypeCode: "3", stockTracked: false }),
    item("new", "SOAP-1", "Bar soap, not yet registered", 120, { ...unregistered, onHand: { branch_1: 60 } }),
    item("incomplete", "MISC-1", "Sundries, not yet classified", 75, {
      ...unregistered,
      needs: { classificationMapping: true },
    }),
  ],
};

/** The state a simulator starts with. */
export const scenarioSchema = z.strictObject({
  applications: z.array(applicationSchema).min(1),
  businesses: z.array(businessSchema).min(1),
  /** VAT rate in percent for each tax type letter. */
  taxRates: z.record(z.string(), z.number().min(0).max(100)),
  items: z.array(itemSchema),
  authority: z
    .strictObject({
      default: authorityStepSchema.default({ do: "accept" }),
      documents: z.record(z.string(), authorityScriptSchema).default({}),
    })
    .prefault({}),
  sales: z.array(elsewhereSaleSchema).default([]),
  purchases: z.array(purchaseSchema).default([]),
  /** The other service, with applications and keys of its own. */
  accounting: accountingScenarioSchema.prefault({}),
});

export type Scenario = z.infer<typeof scenarioSchema>;
/** How a scenario is written: every section may be left out. */
export type ScenarioInput = Partial<z.input<typeof scenarioSchema>>;
export type Business = z.infer<typeof businessSchema>;
export type Item = z.infer<typeof itemSchema>;
export type Purchase = z.infer<typeof purchaseSchema>;
export type NewItem = z.input<typeof itemSchema>;
export type NewPurchase = z.input<typeof purchaseSchema>;
export type NewBusiness = z.input<typeof businessSchema>;
export type ElsewhereSale = z.input<typeof elsewhereSaleSchema>;

/**
 * A section that is left out is the built-in one; `items` are empty when `businesses` are given without them.
 * @throws InstructionError that names every wrong value with its path
 */
export function parseScenario(raw: unknown = {}): Scenario {
  const isObject = typeof raw === "object" && raw !== null && !Array.isArray(raw);
  const items = isObject && "businesses" in raw ? [] : builtIn.items;
  return parseInstruction("scenario", scenarioSchema, isObject ? { ...builtIn, items, ...raw } : raw);
}
