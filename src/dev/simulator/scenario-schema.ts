import { z } from "zod";
import { accountingScenarioSchema } from "./accounting/scenario.ts";
import { authorityScriptSchema, authorityStepSchema, documentStatuses } from "./authority-step.ts";
import { isCalendarDay } from "./request-fields.ts";

const scopes = ["sales:read", "sales:write", "stock:write", "catalog:read", "catalog:write", "purchases:read"] as const;
export type Scope = (typeof scopes)[number];

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
  /** Unix time in milliseconds. */
  expiresAtMs: z.number().nullable().default(null),
});

/** What `setKey` may change; `application` is needed for a key that does not exist yet. */
export const keyPatchSchema = z.strictObject({
  application: z.string().optional(),
  businessId: id.nullable().optional(),
  scopes: z.array(z.enum(scopes)).optional(),
  revoked: z.boolean().optional(),
  expiresAtMs: z.number().nullable().optional(),
});
export type KeyPatch = z.input<typeof keyPatchSchema>;

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

const needsSchema = z.strictObject({
  productType: z.boolean().default(false),
  classificationMapping: z.boolean().default(false),
});

/** One registration attempt, or one for each attempt (the last repeats). */
const registrationStep = z.union([z.literal("accept"), z.strictObject({ reject: z.string().min(1) })]);

const fiscalReportSchema = z.strictObject({
  stockIo: z.string().default("ok"),
  stockMaster: z.string().default("ok"),
});

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
  needs: needsSchema.default({ productType: false, classificationMapping: false }),
  onHand: z.record(z.string(), z.number()).default({}),
  registration: z.union([registrationStep, z.array(registrationStep).min(1)]).default("accept"),
  /** The two statuses of the tax system's report on a stock movement of this item. */
  fiscalReport: fiscalReportSchema.default({ stockIo: "ok", stockMaster: "ok" }),
  deleted: z.boolean().default(false),
});

export type NewItem = z.input<typeof itemSchema>;

/** What `updateItem` may change. */
export const itemPatchSchema = itemSchema.omit({ id: true, businessId: true }).partial();
export type ItemPatch = Partial<Omit<z.input<typeof itemSchema>, "id" | "businessId">>;

/** A sale that exists although the API did not create it: issued in the dashboard or by another system. */
export const elsewhereSaleSchema = z.strictObject({
  id: id.optional(),
  businessId: id,
  branchId: id.optional(),
  traderInvoiceNumber: z.string().min(1).max(50),
  saleDate: day.nullable().default(null),
  paymentTypeCode: text,
  customer: z
    .strictObject({ name: text, pin: text, phone: text, email: text })
    .default({ name: null, pin: null, phone: null, email: null }),
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
export type ElsewhereSale = z.input<typeof elsewhereSaleSchema>;

const purchaseStatus = z.enum(["pulled", "pending_review", "confirmed", "rejected"]);

export const purchaseSchema = z.strictObject({
  id,
  businessId: id,
  status: purchaseStatus.default("pulled"),
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
  /** What happens to it in the dashboard, counted from when it is stored. */
  changes: z
    .array(
      z.strictObject({
        afterMs: z.number().min(0),
        status: purchaseStatus.optional(),
        confirmationError: z.string().nullable().optional(),
      }),
    )
    .default([]),
});

/** What `updatePurchase` may change. */
export const purchasePatchSchema = purchaseSchema
  .omit({ id: true, businessId: true, stored: true, changes: true })
  .partial();
export type PurchasePatch = Partial<Omit<z.input<typeof purchaseSchema>, "id" | "businessId" | "stored" | "changes">>;

/**
 * The state a simulator starts with. A section that is left out takes the built-in one; `items` are empty when
 * `businesses` are given without them.
 */
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
    .default({ default: { do: "accept" }, documents: {} }),
  sales: z.array(elsewhereSaleSchema).default([]),
  purchases: z.array(purchaseSchema).default([]),
  unitPriceIncludesTax: z.boolean().default(true),
  /** The other service, with applications and keys of its own. */
  accounting: accountingScenarioSchema.prefault({}),
});

export type Scenario = z.infer<typeof scenarioSchema>;
/** How a scenario is written: every section may be left out. */
export type ScenarioInput = Partial<z.input<typeof scenarioSchema>>;
export type Business = Scenario["businesses"][number];
export type Branch = Business["branches"][number];
export type ScenarioItem = Scenario["items"][number];
export type Purchase = Scenario["purchases"][number];
/** As a scenario or a control writes it. */
export type NewPurchase = z.input<typeof purchaseSchema>;
export type NewBusiness = z.input<typeof businessSchema>;
