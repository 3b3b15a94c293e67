import { z } from "zod";

import {
  processSyncBatchInputSchema,
  readEventsInputSchema,
  reconcileInputSchema,
  registerItemsInputSchema,
  syncBillPaymentsInputSchema,
  syncPurchasesInputSchema,
} from "./job-inputs.ts";
import { replySchema, saleOutcomeSchema, saleStateSchema } from "./outcomes.ts";
import { saleStartSchema } from "./sale.ts";
import { type Declaration, UPDATE_DECLARATIONS } from "./updates.ts";

/** What is published, by the file's name: inputs by workflow type, updates by name, and what they answer. */
export const PUBLISHED_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  "input.sale": saleStartSchema,
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

/** The sandbox looks at the fields of a message alone. */
function withoutInnerForms(properties: NonNullable<ReturnType<typeof jsonSchemaOf>["properties"]>) {
  const fields = Object.entries(properties).map(([name, field]) => {
    if (typeof field === "boolean" || field.type !== "object") return [name, field] as const;
    const { type, description } = field;
    return [name, { type, description }] as const;
  });
  return Object.fromEntries(fields);
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
      properties = {},
      ...form
    } = jsonSchemaOf(takes);
    return [name, { purpose, properties: withoutInnerForms(properties), ...form, answers }];
  });
  return `${FORMS_HEAD}${JSON.stringify(Object.fromEntries(forms))} as const satisfies Readonly<Record<string, UpdateForm>>;\n`;
}
