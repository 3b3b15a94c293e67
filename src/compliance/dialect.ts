import { z } from "zod";

import {
  type AboutSetting,
  distinctNames,
  group,
  name,
  namedDownload,
  namedOperation,
  optionalName,
  parseOverrides,
  path,
  setting,
  settingsOf,
} from "../http/dialect-settings.ts";
import { field } from "../http/json.ts";

/**
 * The names that the document "Fiscal Compliance API" does not show: what each means, what happens while it is wrong,
 * and what to ask the provider. Every default is the product's own choice, and configuration overrides it. docs/dialect.md
 * is made from this file.
 */

const ALSO_NAMED = "Endpoints, “Also named”";
const BUSINESSES = "Resources and their fields; Endpoints, “Also named”";

const NOT_CREATED = "400: nothing is created, and each sale shows `invalid-request`";
const IGNORED = "400, or a service that ignores unknown fields leaves the value out";
const NOT_IN_ANSWER = "`invalid-request`, or `doctor` names the setting because the answer lacks the value";

/** A name in the body of POST /v1/sales. */
function ofSale(what: string, about: Partial<AboutSetting> = {}): AboutSetting {
  return {
    section: ALSO_NAMED,
    meaning: `${what.charAt(0).toUpperCase()}${what.slice(1)}`,
    ifWrong: `${IGNORED}: ${NOT_IN_ANSWER}`,
    question: `In the body of POST /v1/sales, what is the name of ${what}?`,
    ...about,
  };
}
const needed = { ifWrong: NOT_CREATED };

function businessIdIn(operation: string, ifWrong: string, section = operation) {
  return setting(z.enum(["query", "body"]).default("query"), {
    section,
    meaning: `Where ${operation} carries \`businessId\`; only with an organisation-wide key`,
    ifWrong,
    question: `With an organisation-wide key, does \`businessId\` travel in the query or in the body of ${operation}?`,
  });
}

function branchBy(operation: string, about: Omit<AboutSetting, "meaning" | "question"> & Partial<AboutSetting>) {
  return setting(z.enum(["id", "authorityId"]).default("id"), {
    meaning: `How ${operation} names its branch: by its own id, or by the authority's branch-office id`,
    question: `In ${operation}, is a branch named by its id or by its authorityBhfId?`,
    ...about,
  });
}

function purchaseInput(value: string, what: string, about: Partial<AboutSetting> = {}) {
  return optionalName(value, {
    section: "GET /v1/purchases",
    meaning: `The query parameter for ${what}; \`null\`: each sync reads everything`,
    ifWrong:
      "400, or a service that ignores unknown parameters answers with the unfiltered list: the purchases sync waits with `invalid-request` or `unexpected-answer`, which names the setting",
    question: `What is the name of the query parameter of GET /v1/purchases for ${what}?`,
    ...about,
  });
}

function onlyNamed(what: string): AboutSetting {
  return {
    section: ALSO_NAMED,
    meaning: `${what}, which the documentation names without describing it; \`null\`: off`,
    ifWrong: "the operation is off, or answers 404, and its command says so; nothing else depends on it",
    question: `${what}: what are the method, the path and the names of the fields?`,
    optional: true,
  };
}

const BUSINESSES_UNREAD =
  "the businesses cannot be read, which `doctor` and `dialect` say: sales that name a branch wait with `not-found`; all others go on";

const dialectSchema = group({
  createSale: group({
    path: path("/v1/sales", {
      section: ALSO_NAMED,
      meaning: "The path under which a sale is issued",
      ifWrong: "404: nothing is created, and each sale shows `not-found`",
      question: "Is a sale issued by POST /v1/sales, or under which path?",
    }),
    businessIdIn: businessIdIn("POST /v1/sales", NOT_CREATED, "Endpoints"),
    // Trusted with a service that does not know it, a lost answer would become a second real document.
    idempotencyKey: setting(z.enum(["off", "sent", "trusted"]).default("trusted"), {
      section: "POST /v1/credit-notes, where alone the header is shown",
      meaning:
        "How far the Idempotency-Key of a sale is trusted. `off`: none is sent. `sent`: one is sent, and a lost answer waits for an operator. `trusted`: after a lost answer the request is repeated under the same key",
      fallback: "`trusted` with a test key, `sent` with a live key",
      ifWrong:
        "`trusted` with a service that ignores the header: a lost answer can issue the sale twice, which `reconcile` finds. `off` or `sent` with a service that honours it: each lost answer waits as `document-unknown`",
      question:
        "Does POST /v1/sales honour the header Idempotency-Key as POST /v1/credit-notes does, so that a repeated request returns the first sale? For how long?",
    }),
    fields: distinctNames({
      traderInvoiceNumber: name("traderInvoiceNumber", ofSale("the caller's own number", needed)),
      saleDate: optionalName(
        "saleDate",
        ofSale("the date of the sale", { ifWrong: `${IGNORED}, and the API dates the sale itself: ${NOT_IN_ANSWER}` }),
      ),
      paymentTypeCode: optionalName("paymentTypeCode", ofSale("the code of the payment type")),
      customer: optionalName(
        "customer",
        ofSale("the customer's object", {
          ifWrong: `${IGNORED}, and the receipt has no customer: \`invalid-request\`, or \`mismatch\` where the sale has a PIN`,
        }),
      ),
      lines: name("lines", ofSale("the list of lines", needed)),
      branch: optionalName(
        "branchId",
        ofSale("the branch, if a sale has one", {
          ifWrong: `${IGNORED}, and the sale counts for the business's first branch, which no answer shows`,
        }),
      ),
      callbackUrl: optionalName(
        "callbackUrl",
        ofSale("the URL for the result callback", {
          ifWrong: `${IGNORED}: no callback comes, polling alone finishes the sale, and \`doctor\` names the setting`,
        }),
      ),
    }),
    lineFields: distinctNames({
      itemId: name("itemId", ofSale("the item's id in a line", needed)),
      quantity: name("quantity", ofSale("the quantity in a line", needed)),
      unitPrice: optionalName(
        "unitPrice",
        ofSale("the unit price in a line", {
          ifWrong: `${IGNORED}, and the API takes the item's price: \`invalid-request\`, or \`mismatch\``,
        }),
      ),
    }),
    customerFields: distinctNames({
      name: optionalName("name", ofSale("the customer's name")),
      pin: optionalName(
        "pin",
        ofSale("the customer's PIN (tax identification number)", {
          ifWrong: `${IGNORED}: \`invalid-request\`, or \`mismatch\`, since the signed document lacks it`,
        }),
      ),
      phone: optionalName("phone", ofSale("the customer's phone")),
      email: optionalName("email", ofSale("the customer's email")),
    }),
    branchBy: branchBy("POST /v1/sales", {
      section: ALSO_NAMED,
      ifWrong: "400 to a sale that names a branch: nothing is created, and the sale shows `invalid-request`",
    }),
  }),
  creditNote: group({
    businessIdIn: businessIdIn(
      "POST /v1/credit-notes",
      "400: nothing is created, and the credit note shows `invalid-request`",
    ),
  }),
  retry: group({
    businessIdIn: businessIdIn(
      "POST /v1/sales/{id}/retry",
      "400: nothing is submitted again, and the rejected document shows `invalid-request`",
    ),
  }),
  stock: group({
    businessIdIn: businessIdIn(
      "POST /v1/stock/adjustments",
      "400: nothing moves, and each movement shows `stock-refused`",
    ),
    branch: optionalName("branchId", {
      section: "POST /v1/stock/adjustments",
      meaning:
        "The field that selects the branch of a stock movement; `null`: the stock of the first branch moves, and no movement is held back",
      ifWrong:
        "400 and `stock-refused`, or a service that ignores unknown fields moves the stock of the business's first branch. If its answer shows that, the movement shows `unexpected-answer`, and the connection sends no further movement to a named branch (`stock-refused`) until an operator has checked it or the setting is changed; `doctor` names it",
      question: "In the body of POST /v1/stock/adjustments, what is the name of the branch selector?",
    }),
    branchBy: branchBy("POST /v1/stock/adjustments", {
      section: "POST /v1/stock/adjustments",
      ifWrong: "400 to a movement that names a branch: nothing moves, and the movement shows `stock-refused`",
    }),
    report: optionalName("fiscal", {
      section: "Stock adjustment result, where `fiscal` is a neutral word",
      meaning:
        "The key of the tax system's report in the answer to a movement: the object that holds `stockIo` and `stockMaster`; `null`: not read",
      ifWrong:
        "movements are applied, and one that the authority did not accept goes unnoticed; `doctor` and the log name the setting",
      question:
        "In the answer of POST /v1/stock/adjustments, under which key stands the object with `stockIo` and `stockMaster`?",
    }),
  }),
  register: group({
    branch: optionalName("branchId", {
      section: "POST /v1/items/{id}/register",
      meaning:
        "The branch for which an item is registered; `null`: the API takes the first branch. What the catalogue shows as registered, for whichever branch, is sent only with `items register --force`",
      ifWrong:
        "400 and `invalid-request`, or a service that ignores unknown fields registers for the business's first branch, and the item stays unregistered at the other",
      question: "In the body of POST /v1/items/{id}/register, what is the name of the branch selector?",
    }),
    branchBy: branchBy("POST /v1/items/{id}/register", {
      section: "POST /v1/items/{id}/register",
      ifWrong: "nothing changes: the documentation says that both are accepted",
      optional: true,
    }),
    force: optionalName("force", {
      section: "POST /v1/items/{id}/register",
      meaning:
        "The flag to register again an item that the authority already has; only `items register --force` sends it",
      ifWrong: "400 and `invalid-request`, or the item is not registered again",
      question:
        "In the body of POST /v1/items/{id}/register, what is the name of the flag that registers an item again?",
    }),
  }),
  purchases: distinctNames({
    cursor: purchaseInput("cursor", "the cursor of the next page", {
      meaning: "The query parameter for the cursor of the next page; `null`: only the first page can be read",
      ifWrong:
        "400, or the first page comes again: the purchases sync waits with `invalid-request` or `unexpected-answer`, which names the setting",
    }),
    pageSize: purchaseInput("pageSize", "the page size", {
      meaning: "The query parameter for the page size (100 rows are requested)",
      ifWrong:
        "400 and `invalid-request` of the purchases sync, or pages of the API's own size (more calls, the same rows), which `doctor` and the log say",
    }),
    status: purchaseInput("status", "the review status"),
    from: purchaseInput("from", "the first invoice date"),
    to: purchaseInput("to", "the last invoice date"),
  }),
  pull: group({
    path: path("/v1/purchases/pull", {
      section: ALSO_NAMED,
      meaning: "The path that fetches the latest supplier invoices from the tax authority",
      ifWrong: "404: new invoices are not fetched, and the purchases sync shows `not-found`",
      question: "Are supplier invoices fetched by POST /v1/purchases/pull, or under which path?",
    }),
    businessIdIn: businessIdIn(
      "POST /v1/purchases/pull",
      "400: new invoices are not fetched, and the purchases sync shows `invalid-request`",
      ALSO_NAMED,
    ),
  }),
  businesses: group({
    list: optionalName("businesses", {
      section: BUSINESSES,
      meaning: "The key in `data` of GET /v1/businesses that holds the list; `null`: `data` itself is the list",
      ifWrong: BUSINESSES_UNREAD,
      question: "In the answer of GET /v1/businesses, under which key stands the list of businesses?",
    }),
    id: name("id", {
      section: BUSINESSES,
      meaning: "The key of a business's id, the value that is sent as `businessId`",
      ifWrong: BUSINESSES_UNREAD,
      question: "In a record of GET /v1/businesses, which key holds the value that is sent as `businessId`?",
    }),
    branches: optionalName("branches", {
      section: BUSINESSES,
      meaning: "The key of a business's list of branches; `null`: there is none, and no sale can name a branch",
      ifWrong: "a sale's branch cannot be resolved, and the sale waits with `not-found`; `doctor` names the setting",
      question: "In a record of GET /v1/businesses, which key holds the list of branches?",
    }),
    branchId: name("id", {
      section: BUSINESSES,
      meaning: "The key of a branch's id",
      ifWrong: "a sale that names a branch waits with `not-found`, or is refused with 400 (`invalid-request`)",
      question: "In a branch of GET /v1/businesses, which key holds the branch id that other operations take?",
    }),
    authorityId: optionalName("authorityBhfId", {
      section: BUSINESSES,
      meaning: "The key of the authority's branch-office id; `null`: not read",
      ifWrong: "a branch is known by its own id only: sales that name it by the authority's wait with `not-found`",
      question: "In a branch of GET /v1/businesses, which key holds the authority's branch-office id (such as `00`)?",
    }),
  }),
  errors: group({
    authorityRejected: optionalName("authority_rejected", {
      section: "Errors, where the code is a neutral word",
      meaning: "The error code of a 422 that says that the authority rejected the document; `null`: not known",
      ifWrong: "nothing changes: the status 422 and the document in the answer decide",
      question: "Which error code does a 422 carry when the tax authority rejected the document?",
      optional: true,
    }),
    alreadyCredited: optionalName("already_credited", {
      section: "Errors, where it is an example",
      meaning: "The error code of a 422 to a credit note for a sale that has already been credited; `null`: not known",
      ifWrong:
        "an answer that names `creditNoteId` is understood all the same; one without it shows `rejected` instead of `already-credited`, and no second credit note is issued",
      question: "Which error code does POST /v1/credit-notes answer for a sale that is already credited?",
    }),
  }),
  createItem: namedOperation(onlyNamed("Item creation")),
  receiptDownload: namedDownload({
    ...onlyNamed("Receipt download"),
    meaning:
      "Receipt download, which the documentation names without describing it; the path contains `{id}` for the document's id. `null`: off",
  }),
  identity: namedOperation(onlyNamed("The identity operation (what a key can do)")),
  lookups: namedOperation(onlyNamed("The lookups (code lists and item classifications)")),
});

/** `test` acts on sandbox businesses, `live` on production businesses (Fiscal Compliance API, "Authentication", 2). */
type KeyKind = "test" | "live";

export type ComplianceDialect = z.output<typeof dialectSchema>;

export const complianceSettings = () => settingsOf(dialectSchema);

/**
 * Partial overrides, merged over the defaults.
 *
 * @param keyKind of the connection's key, on which one default depends
 * @throws DialectError with every problem and its path, an unknown name among them
 */
export function parseDialect(overrides?: unknown, keyKind: KeyKind = "test"): ComplianceDialect {
  const dialect = parseOverrides(dialectSchema, overrides);
  if (keyKind === "test" || statesSaleKey(overrides)) return dialect;
  const { createSale, ...others } = dialect;
  // A repetition that the service does not recognise would be a second real document.
  return { ...others, createSale: { ...createSale, idempotencyKey: "sent" } };
}

/** Whether the overrides say what the service does with the Idempotency-Key of a sale. */
export function statesSaleKey(overrides: unknown): boolean {
  return field(field(overrides, "createSale"), "idempotencyKey") !== undefined;
}
