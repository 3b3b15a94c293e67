import { z } from "zod";

import { correctionInputSchema } from "./correction-input.ts";
import {
  processSyncBatchInputSchema,
  reconcileInputSchema,
  registerItemsInputSchema,
  syncBillPaymentsInputSchema,
  syncPurchasesInputSchema,
} from "./job-inputs.ts";
import { replySchema, saleOutcomeSchema, saleStateSchema } from "./outcomes.ts";
import { readEventsInputSchema } from "./read-events-input.ts";
import { saleStartSchema } from "./sale-input.ts";
import { type Declaration, UPDATE_DECLARATIONS } from "./updates.ts";

/** What is published, by the file's name: inputs by workflow type, updates by name, and what they answer. */
export const PUBLISHED_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  "input.sale": saleStartSchema,
  "input.correctSale": correctionInputSchema,
  "input.registerItems": registerItemsInputSchema,
  "input.syncPurchases": syncPurchasesInputSchema,
  "input.syncBillPayments": syncBillPaymentsInputSchema,
  "input.processSyncBatch": processSyncBatchInputSchema,
  "input.reconcile": reconcileInputSchema,
  "input.readEvents": readEventsInputSchema,
  ...Object.fromEntries(
    Object.entries(UPDATE_DECLARATIONS).map(([name, { takes }]) => [`update.${name}`, takes] as const),
  ),
  "answer.outcome": saleOutcomeSchema,
  "answer.state": saleStateSchema,
  "answer.update": replySchema,
};

/** As JSON Schema, draft 2020-12. */
export function jsonSchemaOf(schema: z.ZodType) {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

const FORMS_HEAD = `// Written by \`npx vitest run src/contract/schema -u\` from the declarations in \`schema/updates.ts\`.
import type { UpdateForm } from "./message-form.ts";

/** Every update: what it is for, its JSON Schema, and the answers that it can carry to an attention. */
export const UPDATE_FORMS = `;

/** The same of the updates for the sandbox of the workflows, which loads no zod: the source of `../update-forms.ts`. */
export function updateFormsFile(): string {
  const forms = Object.entries<Declaration>(UPDATE_DECLARATIONS).map(([name, { takes, answers }]) => {
    const {
      $schema: _,
      type: _object,
      additionalProperties: _none,
      description: purpose,
      ...form
    } = jsonSchemaOf(takes);
    return [name, { purpose, ...form, answers }];
  });
  return `${FORMS_HEAD}${JSON.stringify(Object.fromEntries(forms))} as const satisfies Readonly<Record<string, UpdateForm>>;\n`;
}
