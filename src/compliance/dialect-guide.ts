import type { DialectGuide, NeutralWord, SettingGuide } from "../dialect/guide.ts";

/**
 * What each setting of the Compliance API's dialect is, what happens while it is wrong, and how it is found out. The
 * sections are those of the document "Fiscal Compliance API". A test fails when a setting has no entry here.
 */

const REFUSED = "The API answers 400: nothing is created";
const INVALID = "`invalid-request` on each sale, with the API's message";
const IGNORED = "A service that refuses unknown fields answers 400; one that ignores them leaves the value out";
const NOT_IN_ANSWER = "`invalid-request`, or the value is missing from the sale in the answer";

/** "Also named: POST /v1/sales … Request and response shapes of these: not shown." */
const SALE_SECTION = "Endpoints, “Also named”";

function saleName(meaning: string, field: string, part: Partial<SettingGuide>): SettingGuide {
  return {
    section: SALE_SECTION,
    meaning,
    whileWrong: IGNORED,
    shows: NOT_IN_ANSWER,
    foundBy: "write",
    question: `In the body of POST /v1/sales, what is the name of ${field}?`,
    ...part,
  };
}

const needed = { whileWrong: REFUSED, shows: INVALID };

function placeOfBusinessId(operation: string, part: Partial<SettingGuide>): SettingGuide {
  return {
    section: "Endpoints",
    meaning: `Where ${operation} carries \`businessId\`: in the query or in the body. Applies only to an organisation-wide key.`,
    ...needed,
    foundBy: "write",
    question: `With an organisation-wide key, does \`businessId\` travel in the query or in the body of ${operation}?`,
    ...part,
  };
}

function namedOperation(what: string, part: Partial<SettingGuide> = {}): SettingGuide {
  return {
    section: SALE_SECTION,
    meaning: `${what}, which the documentation names without describing it. \`null\`: off.`,
    whileWrong: "The operation is off, or answers 404; nothing else depends on it",
    shows: "The command says that the operation is not in the dialect",
    foundBy: "ask",
    question: `${what}: what are the method, the path and the names of the fields?`,
    optional: true,
    ...part,
  };
}

const purchaseName = (input: string, part: Partial<SettingGuide>): SettingGuide => ({
  section: "GET /v1/purchases",
  meaning: `The query parameter for ${input}.`,
  whileWrong: "400, or a service that ignores unknown parameters answers with the unfiltered list",
  shows: "`unexpected-answer` or `invalid-request` of the purchases sync, which names the setting",
  foundBy: "read",
  question: `What is the name of the query parameter of GET /v1/purchases for ${input}?`,
  ...part,
});

const BUSINESSES_UNREAD = {
  whileWrong: "The businesses cannot be read: sales that name a branch wait; all others go on",
  shows: "`not-found` on such sales, whose message names the settings; `fiscalflow doctor` names the setting",
};

const BUSINESSES_SECTION = "Resources and their fields; Endpoints, “Also named”";

export const COMPLIANCE_GUIDE: DialectGuide = {
  "createSale.path": {
    section: SALE_SECTION,
    meaning: "The path under which a sale is issued.",
    whileWrong: "The API answers 404: nothing is created",
    shows: "`not-found` on each sale",
    foundBy: "write",
    question: "Is a sale issued by POST /v1/sales, or under which path?",
  },
  "createSale.businessIdIn": placeOfBusinessId("POST /v1/sales", {}),
  "createSale.idempotencyKey": {
    section: "POST /v1/credit-notes (the header is shown for credit notes only)",
    meaning:
      "How far the Idempotency-Key of a sale is trusted. `off`: none is sent. `sent`: one is sent, and a lost answer waits for an operator. `trusted`: after a lost answer the request is repeated under the same key.",
    fallback: "`trusted` with a test key, `sent` with a live key",
    whileWrong:
      "`trusted` with a service that ignores the header: a lost answer can issue the sale twice. `off` or `sent` with a service that honours it: each lost answer waits for an operator",
    shows: "Two documents with one number, found by `fiscalflow reconcile`; or `document-unknown`",
    foundBy: "write",
    question:
      "Does POST /v1/sales honour the header Idempotency-Key as POST /v1/credit-notes does, so that a repeated request returns the first sale? For how long?",
  },
  "createSale.fields.traderInvoiceNumber": saleName("The caller's own number.", "the caller's own number", needed),
  "createSale.fields.saleDate": saleName("The date of the sale. `null`: not sent.", "the date of the sale", {
    whileWrong: `${IGNORED}, and the API dates the sale itself`,
  }),
  "createSale.fields.paymentTypeCode": saleName(
    "The code of the payment type. `null`: not sent.",
    "the code of the payment type",
    {},
  ),
  "createSale.fields.customer": saleName("The object with the customer. `null`: not sent.", "the customer's object", {
    whileWrong: `${IGNORED}: the receipt has no customer`,
    shows: "`invalid-request`, or `mismatch` where the sale has a PIN",
  }),
  "createSale.fields.lines": saleName("The list of lines.", "the list of lines", needed),
  "createSale.fields.branch": saleName(
    "The branch of the sale. `null`: not sent.",
    "the branch, and does a sale have one",
    {
      whileWrong: `${IGNORED}: the sale counts for the business's first branch`,
      shows: "`invalid-request`; otherwise nothing shows it, since the sale in the API's answer has no branch",
      question: "In the body of POST /v1/sales, is there a branch selector, and what is its name?",
    },
  ),
  "createSale.fields.callbackUrl": saleName(
    "The URL for the result callback. `null`: not sent.",
    "the URL for the result callback",
    {
      whileWrong: `${IGNORED}: no callback comes, and polling alone finishes the sale`,
      shows: "`invalid-request`, or `callback` is null in the answer",
    },
  ),
  "createSale.lineFields.itemId": saleName("The item of a line.", "the item's id in a line", needed),
  "createSale.lineFields.quantity": saleName("The quantity of a line.", "the quantity in a line", needed),
  "createSale.lineFields.unitPrice": saleName(
    "The unit price of a line. `null`: not sent, and the API takes the item's.",
    "the unit price in a line",
    { whileWrong: `${IGNORED}, and the API takes the item's price`, shows: "`invalid-request`, or `mismatch`" },
  ),
  "createSale.customerFields.name": saleName("The customer's name. `null`: not sent.", "the customer's name", {}),
  "createSale.customerFields.pin": saleName(
    "The customer's tax identification number. `null`: not sent.",
    "the customer's PIN",
    { shows: "`invalid-request`, or `mismatch`: the signed document lacks the PIN" },
  ),
  "createSale.customerFields.phone": saleName("The customer's phone. `null`: not sent.", "the customer's phone", {}),
  "createSale.customerFields.email": saleName("The customer's email. `null`: not sent.", "the customer's email", {}),
  "createSale.branchBy": {
    section: SALE_SECTION,
    meaning: "How a sale names its branch: by the branch's own id, or by the authority's branch-office id.",
    whileWrong: "The API answers 400 to a sale that names a branch: nothing is created",
    shows: "`invalid-request` on the sales of a named branch",
    foundBy: "write",
    question: "In POST /v1/sales, is a branch named by its id or by its authorityBhfId?",
  },
  "creditNote.businessIdIn": placeOfBusinessId("POST /v1/credit-notes", {
    section: "POST /v1/credit-notes",
    shows: "`invalid-request` on each credit note",
  }),
  "retry.businessIdIn": placeOfBusinessId("POST /v1/sales/{id}/retry", {
    section: "POST /v1/sales/{id}/retry",
    whileWrong: "The API answers 400: nothing is submitted again",
    shows: "`invalid-request` when a rejected document is submitted again",
    foundBy: "read",
  }),
  "stock.businessIdIn": placeOfBusinessId("POST /v1/stock/adjustments", {
    section: "POST /v1/stock/adjustments",
    whileWrong: "The API answers 400: nothing moves",
    shows: "`stock-refused` on each movement",
  }),
  "stock.branch": {
    section: "POST /v1/stock/adjustments",
    meaning:
      "The field that selects the branch of a stock movement. `null`: not sent; the stock of the first branch moves, and no movement is held back.",
    whileWrong:
      "400, or a service that ignores unknown fields moves the stock of the business's first branch. If its answer shows that, the connection sends no further movement to a named branch until an operator has checked it or the setting is changed",
    shows:
      "`stock-refused` on each movement that is refused or held back; `unexpected-answer` on the one that was answered with another branch; `fiscalflow doctor` names the setting",
    foundBy: "write",
    question: "In the body of POST /v1/stock/adjustments, what is the name of the branch selector?",
  },
  "stock.branchBy": {
    section: "POST /v1/stock/adjustments",
    meaning: "How a stock movement names its branch: by the branch's own id, or by the authority's branch-office id.",
    whileWrong: "The API answers 400 to a movement that names a branch: nothing moves",
    shows: "`stock-refused` on the movements of a named branch",
    foundBy: "write",
    question: "In POST /v1/stock/adjustments, is a branch named by its id or by its authorityBhfId?",
  },
  "stock.report": {
    section: "Stock adjustment result (`fiscal` is a neutral word)",
    meaning:
      "The key of the tax system's report in the answer to a movement: the object that holds `stockIo` and `stockMaster`. `null`: not read.",
    whileWrong:
      "The report is not read: movements are applied, and one that the authority did not accept goes unnoticed",
    shows: "`fiscalflow doctor` and the log name the setting",
    foundBy: "write",
    question:
      "In the answer of POST /v1/stock/adjustments, under which key stands the object with `stockIo` and `stockMaster`?",
  },
  "register.branch": {
    section: "POST /v1/items/{id}/register",
    meaning: "The branch for which an item is registered. `null`: not sent, and the API takes the first branch.",
    whileWrong: "400, or a service that ignores unknown fields registers for the business's first branch",
    shows: "`invalid-request` on the registration; otherwise the item stays unregistered at that branch",
    foundBy: "read",
    question: "In the body of POST /v1/items/{id}/register, what is the name of the branch selector?",
  },
  "register.branchBy": {
    section: "POST /v1/items/{id}/register (both are accepted)",
    meaning: "How a registration names its branch: by the branch's own id, or by the authority's branch-office id.",
    whileWrong: "Nothing changes: the documentation says that both are accepted",
    foundBy: "read",
    question: "In POST /v1/items/{id}/register, are both the branch id and the authorityBhfId accepted?",
    optional: true,
  },
  "register.force": {
    section: "POST /v1/items/{id}/register",
    meaning: "The flag to register again an item that the authority already has. `null`: never sent.",
    whileWrong: "400, or the flag is ignored; only `items register --force` sends it",
    shows: "`invalid-request`, or the item is not registered again",
    foundBy: "read",
    question: "In the body of POST /v1/items/{id}/register, what is the name of the flag that registers an item again?",
  },
  "purchases.cursor": purchaseName("the cursor of the next page", {
    whileWrong: "400, or a service that ignores unknown parameters answers with the first page again",
    meaning: "The query parameter for the cursor of the next page. `null`: only the first page can be read.",
  }),
  "purchases.pageSize": purchaseName("the page size", {
    meaning: "The query parameter for the page size (100 rows are requested). `null`: not sent.",
    whileWrong: "400, or pages of the API's own size: more calls, the same rows",
    shows:
      "`invalid-request` of the purchases sync; if the API ignores it, only the log and `fiscalflow doctor` say so",
  }),
  "purchases.status": purchaseName("the review status", {
    meaning: "The query parameter for the review status. `null`: each sync reads everything.",
  }),
  "purchases.from": purchaseName("the first invoice date", {
    meaning: "The query parameter for the first date. `null`: each sync reads everything.",
  }),
  "purchases.to": purchaseName("the last invoice date", {
    meaning: "The query parameter for the last date. `null`: each sync reads everything.",
  }),
  "pull.path": {
    section: SALE_SECTION,
    meaning: "The path that fetches the latest supplier invoices from the tax authority.",
    whileWrong: "The API answers 404: new invoices are not fetched",
    shows: "`not-found` of the purchases sync",
    foundBy: "read",
    question: "Are supplier invoices fetched by POST /v1/purchases/pull, or under which path?",
  },
  "pull.businessIdIn": placeOfBusinessId("POST /v1/purchases/pull", {
    section: SALE_SECTION,
    whileWrong: "The API answers 400: new invoices are not fetched",
    shows: "`invalid-request` of the purchases sync",
    foundBy: "read",
  }),
  "businesses.list": {
    section: BUSINESSES_SECTION,
    meaning: "The key in `data` of GET /v1/businesses that holds the list. `null`: `data` itself is the list.",
    ...BUSINESSES_UNREAD,
    foundBy: "read",
    question: "In the answer of GET /v1/businesses, under which key stands the list of businesses?",
  },
  "businesses.id": {
    section: BUSINESSES_SECTION,
    meaning: "The key of a business's id, the value that is sent as `businessId`.",
    ...BUSINESSES_UNREAD,
    foundBy: "read",
    question: "In a record of GET /v1/businesses, which key holds the value that is sent as `businessId`?",
  },
  "businesses.branches": {
    section: BUSINESSES_SECTION,
    meaning: "The key of a business's list of branches. `null`: there is none, and no sale can name a branch.",
    whileWrong: "A sale's branch cannot be resolved, and the sale waits",
    shows: "`not-found` on sales that name a branch; `fiscalflow doctor` names the setting",
    foundBy: "read",
    question: "In a record of GET /v1/businesses, which key holds the list of branches?",
  },
  "businesses.branchId": {
    section: BUSINESSES_SECTION,
    meaning: "The key of a branch's id.",
    whileWrong: "A sale's branch cannot be resolved, or is sent with the wrong value and refused with 400",
    shows: "`not-found` on sales that name a branch, or `invalid-request`",
    foundBy: "read",
    question: "In a branch of GET /v1/businesses, which key holds the branch id that other operations take?",
  },
  "businesses.authorityId": {
    section: BUSINESSES_SECTION,
    meaning: "The key of the authority's branch-office id. `null`: not read.",
    whileWrong: "A branch is known by its own id only: one named by the authority's id is not found",
    shows: "`not-found` on sales that name a branch by the authority's id",
    foundBy: "read",
    question: "In a branch of GET /v1/businesses, which key holds the authority's branch-office id (such as `00`)?",
  },
  "errors.authorityRejected": {
    section: "Errors (the code carries a neutral word)",
    meaning: "The error code of a 422 that says that the authority rejected the document. `null`: not known.",
    whileWrong: "Nothing changes: the status 422 and the document in the answer decide",
    foundBy: "ask",
    question: "Which error code does a 422 carry when the tax authority rejected the document?",
    optional: true,
  },
  "errors.alreadyCredited": {
    section: "Errors (named as an example)",
    meaning: "The error code of a 422 to a credit note for a sale that has already been credited. `null`: not known.",
    whileWrong:
      "An answer that names `creditNoteId` is understood all the same; one without it counts as rejected, and no second credit note is issued",
    shows: "`rejected` instead of `already-credited`",
    foundBy: "ask",
    question: "Which error code does POST /v1/credit-notes answer for a sale that is already credited?",
  },
  createItem: namedOperation("Item creation"),
  receiptDownload: namedOperation("Receipt download", {
    meaning:
      "Receipt download, which the documentation names without describing it; the path contains `{id}` for the document's id. `null`: off.",
  }),
  identity: namedOperation("The identity operation (what a key can do)"),
  lookups: namedOperation("The lookups (code lists and item classifications)"),
};

/** What the document leaves open beside the dialect's settings. */
export const COMPLIANCE_NEUTRAL_WORDS: readonly NeutralWord[] = [
  {
    section: "Authentication, 2",
    word: "the key prefixes `cmp_sk_test_`, `cmp_sk_live_`",
    dependence: "Yes: a key of another form is refused when a process starts. Nothing is sent",
  },
  {
    section: "Endpoints",
    word: "the name `businessId` in a body (it is shown for the query only)",
    dependence: "Yes, with an organisation-wide key: 400, `invalid-request`. Nothing is created",
  },
  {
    section: "Stock adjustment result",
    word: "statuses of `stockIo` and `stockMaster` other than `ok`",
    dependence: "Only `ok` is known: another word for success raises `stock-unreported`. The movement is applied",
  },
  {
    section: "Item",
    word: "values of `registrationStatus` other than `PENDING` and `REGISTERED`",
    dependence: "Only `REGISTERED` counts as registered; any other word does not",
  },
  {
    section: "Item",
    word: "values of `taxCategory`, `taxTypeCode`, `productTypeCode`, `unitCode`, `packagingUnitCode`",
    dependence: "No: passed on as they are",
  },
  {
    section: "Item",
    word: "the names under `needs`",
    dependence: "No: the attention names whatever is `true` there",
  },
  {
    section: "Sale and credit note status",
    word: "which in-flight state a 202 has, the status after a 422, how `cancelled` is reached",
    dependence: "No: the document is read, and any of the six statuses is understood in any order",
  },
  {
    section: "Events",
    word: "the callback's body, headers and signing",
    dependence: "No: a callback only makes fiscalflow read the document",
  },
  {
    section: "Callback status",
    word: "the transitions of `callback.status`",
    dependence: "Only `failed` is acted upon: the document is polled at once",
  },
  {
    section: "Errors",
    word: "codes beyond those listed, and the spelling of `invalid_request`, `forbidden`, `not_found`, `rate_limited`",
    dependence: "No: the status decides",
  },
  {
    section: "Errors",
    word: "the place of `sale`, `item`, `errors`, `creditNoteId`, `branches` (“next to them”)",
    dependence: "No: they are looked for in `error`, beside it and in `data`",
  },
  {
    section: "GET /v1/purchases",
    word: "the default page size",
    dependence: "No: the page size is always sent, and a cursor is followed whatever the page holds",
  },
  {
    section: "POST /v1/purchases/pull",
    word: "the shape of the answer",
    dependence: "No: any 2xx counts",
  },
  {
    section: "POST /v1/stock/adjustments",
    word: "which fields are required, and which number has the lower bound 0",
    dependence: "No: all fields that are shown are sent, and no number is negative",
  },
  {
    section: "Authentication, 7",
    word: "scopes beyond the six",
    dependence: "No: scopes are only named in messages",
  },
  { section: "Limits", word: "the requests per minute", dependence: "No: read from the headers" },
];
