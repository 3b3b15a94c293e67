import { z } from "zod";

const id = z.string().min(1).max(200);
const text = z.string().nullable().optional();
const amount = z.number().nullable().optional();
const named = z.looseObject({ id: text, name: text }).nullable().optional();

export const paymentStatuses = ["pending", "syncing", "synced", "failed"] as const;
export const paymentMethods = ["cash", "check", "bank_transfer", "credit_card", "other"] as const;

/** A bill payment as the service shows it (document, "Bill payment"); other fields are kept as they are. */
export const billPaymentSchema = z.looseObject({
  id,
  supplierRef: named,
  accountRef: named,
  paymentMethodRef: named,
  billRef: z.looseObject({ id: text, billCode: text }).nullable().optional(),
  totalAmount: amount,
  currency: text,
  currencyRate: amount,
  date: text,
  billPaymentCode: text,
  note: text,
  lines: z
    .array(
      z.looseObject({
        amount,
        allocatedOnDate: text,
        reference: text,
        links: z.array(z.looseObject({ billId: text, amount })).optional(),
      }),
    )
    .optional(),
  createdAt: text,
  updatedAt: text,
});
export type BillPaymentBody = z.infer<typeof billPaymentSchema>;

/** What the service knows of a payment besides what it shows. */
export const hiddenFactsSchema = z.strictObject({
  /** Null: no filter by status finds it. */
  status: z.enum(paymentStatuses).nullable(),
  method: z.enum(paymentMethods),
  companyId: id,
});
export type HiddenFacts = z.infer<typeof hiddenFactsSchema>;

/** Of a payment for which the scenario says nothing else. */
export const noFacts: HiddenFacts = { status: "pending", method: "bank_transfer", companyId: "company_1" };

/** A payment of a scenario: what is shown of it, and what is not. */
const billPaymentEntrySchema = z.strictObject({
  body: z.looseObject({ id }),
  facts: z
    .strictObject({
      status: hiddenFactsSchema.shape.status.default(noFacts.status),
      method: hiddenFactsSchema.shape.method.default(noFacts.method),
      companyId: hiddenFactsSchema.shape.companyId.default(noFacts.companyId),
    })
    .prefault({}),
});

export const operations = ["listCompanies", "listBillPayments", "processSyncBatch"] as const;
export type AccountingOperation = (typeof operations)[number];

const applicationSchema = z.strictObject({
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
export type AccountingApplication = z.infer<typeof applicationSchema>;

export const applicationPatchSchema = z.strictObject({
  active: z.boolean().optional(),
  clientSecret: applicationSchema.shape.clientSecret.unwrap().optional(),
  companies: z.array(id).nullable().optional(),
  denied: z.array(z.enum(operations)).optional(),
});

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
export const accountingScenarioSchema = z.strictObject({
  applications: z
    .array(applicationSchema)
    .min(1)
    .prefault([{ name: "simulator", keys: ["sk_development_simulator"], clientSecret: "cs_simulator" }]),
  companies: z.array(z.looseObject({ id })).default([{ id: "company_1", name: "Duka la Mfano" }]),
  billPayments: z.array(billPaymentEntrySchema).default([]),
  /** How many payments are made up besides, from a fixed seed. */
  generatedBillPayments: z.number().int().min(0).default(0),
  syncBatches: z.array(syncBatchSchema).prefault([{ id: "batch_1" }]),
});
export type AccountingScenario = z.infer<typeof accountingScenarioSchema>;
