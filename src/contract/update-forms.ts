// Written by `npx vitest run src/contract/schema -u` from the declarations in `schema/updates.ts`.
import type { UpdateForm } from "./message-form.ts";

/** Every update: what it is for, its JSON Schema, and the answers that it can carry to an attention. */
export const UPDATE_FORMS = {
  outcome: { purpose: "The outcome, waited for a while (20 seconds unless told).", properties: { waitSeconds: { description: "Default: 20.", type: "number", minimum: 0, maximum: 60 }, fingerprint: { description: "Refused where it is not the fingerprint of the sale's content.", type: "string" } } },
  refund: {
    purpose: "Reverse the sale in full.",
    properties: {
      reason: { type: "string", enum: ["01", "02", "03", "04", "05", "06"] },
      traderInvoiceNumber: { type: "string", minLength: 1, maxLength: 50, pattern: "^[^\\x00-\\x1F\\x7F-\\x9F]*$", description: "The credit note's own number." },
      returnDate: { description: "Default: the Africa/Nairobi date of the request.", type: "string", format: "date", pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" },
      restock: { description: "Return to stock what the sale is known to have taken, each line to the branch that it was taken from. Default: false.", type: "boolean" },
      branch: { description: "Only with restock, for a sale that took nothing from stock: the branch (its id or authorityBhfId) that has the goods.", type: "string", minLength: 1, maxLength: 200, pattern: "^[^\\x00-\\x1F\\x7F-\\x9F]*$" },
      replaceWith: { type: "object", description: "The corrected sale, under a number of its own: it is checked before the sale is credited, and issued afterwards. What the credited sale took goes back to stock, so that restock is left out." },
      waitSeconds: { description: "How long to wait for the credit note, and for the word that its number is another sale's. Default: 20. 0 answers once the refund is accepted.", type: "number", minimum: 0, maximum: 60 },
    },
    required: ["reason", "traderInvoiceNumber"],
    dependentSchemas: { branch: { required: ["restock"], properties: { restock: { const: true } } }, replaceWith: { properties: { restock: false } } },
  },
  retry: {
    purpose: "Try again what needed an operator, after you have corrected it.",
    properties: {
      code: {
        type: "string",
        enum: ["document-unknown", "batch-unknown", "credentials", "item-unknown", "item-needs-data", "item-rejected", "invalid-request", "not-found", "rejected", "already-credited", "correction-incomplete", "mismatch", "unexpected-answer", "stock-unknown", "stock-refused", "stock-unreported", "authority-slow"],
        description: "The attention's code.",
      },
      subject: { description: "The attention's subject, where several carry the code.", type: "string" },
      note: { description: "What you corrected; it is kept with the decision.", type: "string" },
      by: { description: "Who answers for it.", type: "string" },
    },
    answers: [["to try again", { code: "{code}", subject: "{subject}", note: "what was corrected" }]],
  },
  cancel: {
    purpose: "Give up a sale, or its refund, as long as its document is not signed. While the document is in flight this is kept as a wish; a completed sale is reversed by a refund.",
    properties: { reason: { type: "string", pattern: "\\S", description: "Why; it is kept with the decision." }, by: { description: "Who answers for it.", type: "string" } },
    required: ["reason"],
    answers: [["to give it up", { reason: "why" }]],
  },
  resolveStock: {
    purpose: "Say whether a stock movement of unknown outcome was applied.",
    properties: {
      referenceId: { type: "string", pattern: "\\S", description: "The movement's referenceId, which is the attention's subject." },
      applied: { type: "boolean" },
      note: { type: "string", pattern: "\\S", description: "How you know, in a few words; it is kept with the decision." },
      by: { description: "Who answers for it.", type: "string" },
    },
    required: ["referenceId", "applied", "note"],
    answers: [
      ["if the movement was applied: it is not sent again", { referenceId: "{subject}", applied: true, note: "how you know" }],
      ["if it was not applied: it is then sent again", { referenceId: "{subject}", applied: false, note: "how you know" }],
    ],
  },
  resolveDocument: {
    purpose: "Say what became of a document whose creation was not answered.",
    properties: {
      saleId: { description: "The document's id.", type: "string", pattern: "\\S" },
      notCreated: { type: "boolean", const: true },
      note: { type: "string", pattern: "\\S", description: "How you know, in a few words; it is kept with the decision." },
      by: { description: "Who answers for it.", type: "string" },
    },
    required: ["note"],
    oneOf: [{ required: ["saleId"] }, { required: ["notCreated"] }],
    answers: [
      ["if you found the document, with its id", { saleId: "id of the document", note: "how you know" }],
      ["if it was not created: it is then created", { notCreated: true, note: "how you know" }],
    ],
  },
  resolveBatch: {
    purpose: "Say whether a sync batch of unknown outcome was processed.",
    properties: { processed: { type: "boolean" }, note: { type: "string", pattern: "\\S", description: "How you know, in a few words; it is kept with the decision." }, by: { description: "Who answers for it.", type: "string" } },
    required: ["processed", "note"],
    answers: [
      ["if the batch was processed: it is not sent again", { processed: true, note: "how you know" }],
      ["if it was not processed: it is then sent again", { processed: false, note: "how you know" }],
    ],
  },
  acknowledge: {
    purpose: "Accept for good what cannot be corrected.",
    properties: {
      code: {
        type: "string",
        enum: ["document-unknown", "batch-unknown", "credentials", "item-unknown", "item-needs-data", "item-rejected", "invalid-request", "not-found", "rejected", "already-credited", "correction-incomplete", "mismatch", "unexpected-answer", "stock-unknown", "stock-refused", "stock-unreported", "authority-slow"],
        description: "The attention's code.",
      },
      subject: { description: "The attention's subject, where several carry the code.", type: "string" },
      note: { type: "string", pattern: "\\S", description: "How you know, in a few words; it is kept with the decision." },
      by: { description: "Who answers for it.", type: "string" },
    },
    required: ["code", "note"],
    answers: [["to accept it as it is", { code: "{code}", subject: "{subject}", note: "how you know" }]],
  },
} as const satisfies Readonly<Record<string, UpdateForm>>;
