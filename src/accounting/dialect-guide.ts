import type { DialectGuide, NeutralWord, SettingGuide } from "../dialect/guide.ts";

/**
 * What each setting of the Accounting Service's dialect is, what happens while it is wrong, and how it is found out.
 * The sections are those of the document "Accounting Service". A test fails when a setting has no entry here.
 */

const SHOWN_BY_SYNC =
  "The bill payments sync waits with `unexpected-answer` or `invalid-request`, which name the setting";

function queryName(input: string, part: Partial<SettingGuide> = {}): SettingGuide {
  return {
    section: "GET /bill-payments",
    meaning: `The query parameter for ${input}.`,
    whileWrong: "400, or a service that ignores unknown parameters answers as if the parameter were absent",
    shows: SHOWN_BY_SYNC,
    foundBy: "read",
    question: `What is the name of the query parameter of GET /bill-payments for ${input}?`,
    ...part,
  };
}

function webhook(meaning: string, question: string, part: Partial<SettingGuide> = {}): SettingGuide {
  return {
    section: "Events",
    meaning,
    whileWrong: "Webhooks are answered 401 and change nothing; payments are read only on the Schedule",
    shows: "The receiver counts the webhooks that it refuses, by reason: in its metrics, and in one log line a minute",
    foundBy: "ask",
    question,
    optional: true,
    ...part,
  };
}

export const ACCOUNTING_GUIDE: DialectGuide = {
  "billPayments.page": queryName("the page number"),
  "billPayments.limit": queryName("the page size (at most 100)", {
    whileWrong: "400, or pages of the accounting service's own size: more calls, the same rows",
    shows:
      "`invalid-request` of the bill payments sync; if the accounting service ignores it, only the log and `fiscalflow doctor` say so",
  }),
  "billPayments.paymentMethod": queryName("the payment method", {
    meaning:
      "The query parameter for the payment method. `null`: not sent. fiscalflow's own synchronisation does not use it.",
    whileWrong: "Nothing changes: only callers of the client send it",
    shows: undefined,
    optional: true,
  }),
  "billPayments.status": queryName("the sync status", {
    meaning: "The query parameter for the sync status. `null`: no statuses are read.",
  }),
  "billPayments.sortBy": queryName("the sort field", {
    meaning: "The query parameter for the sort field. `null`: bill payments cannot be synced.",
  }),
  "billPayments.sortDirection": queryName("the sort direction", {
    meaning: "The query parameter for the sort direction. `null`: bill payments cannot be synced.",
  }),
  "companies.list": {
    section: "GET /companies",
    meaning: "The key of the list of companies. `null`: the answer itself is the list.",
    whileWrong: "Only `fiscalflow doctor` reads the companies; it then cannot count them",
    shows: "A warning of `fiscalflow doctor`",
    foundBy: "read",
    question: "In the answer of GET /companies, under which key stands the list?",
    optional: true,
  },
  "signature.query": {
    section: "Authentication, 4",
    meaning: "Whether the query string is part of the signed path. Applies only with a client secret.",
    whileWrong: "Each signed request with a query is answered 401",
    shows: "`credentials` of the bill payments sync",
    foundBy: "read",
    question: "Does the “request path” of the signed message contain the query string?",
  },
  "webhook.enabled": webhook(
    "Whether webhooks are received.",
    "Which events does the accounting service send as webhooks, and how are they delivered?",
    { whileWrong: "`false`: webhooks are answered 404, and payments are read only on the Schedule" },
  ),
  "webhook.signatureHeader": webhook(
    "The header with the signature.",
    "Which header of a webhook carries its signature?",
    { values: "the name of a header" },
  ),
  "webhook.signaturePrefix": webhook(
    "The text before the signature in its header, for example `sha256=`.",
    "Does anything stand before the signature in its header, such as `sha256=`?",
    { values: "any text" },
  ),
  "webhook.timestampHeader": webhook(
    "The header with the signed timestamp. `null`: there is none.",
    "Which header of a webhook carries the timestamp that is signed with it, if any?",
    { values: "the name of a header, `null`" },
  ),
  "webhook.timestampUnit": webhook(
    "The unit of the timestamp.",
    "Is the timestamp of a webhook in milliseconds or in seconds?",
  ),
  "webhook.signed": webhook(
    "What is signed.",
    "What exactly does the signature of a webhook cover: the body, or the timestamp and the body, and what stands between them?",
  ),
  "webhook.encoding": webhook("The encoding of the signature.", "Is the signature of a webhook hex or base64?"),
  "webhook.eventId": webhook(
    "Where an event's id is: in a field of the body, or in a header. `null`: nowhere, and a repeated webhook triggers another synchronisation.",
    "Which field or header of a webhook identifies the event?",
    {
      values: "a name, `{ header }`, `null`",
      whileWrong: "Webhooks are accepted all the same; a repeated one triggers one more synchronisation",
      shows: undefined,
    },
  ),
};

/** What the document leaves open beside the dialect's settings. */
export const ACCOUNTING_NEUTRAL_WORDS: readonly NeutralWord[] = [
  {
    section: "Authentication, 4",
    word: "whether the “request path” contains the prefix of the base address",
    dependence: "Yes, with a client secret and a base address that has a path: the prefix is signed. Otherwise 401",
  },
  {
    section: "Credentials",
    word: "the prefixes `sk_…`, `cs_…`, `whsec_…`",
    dependence: "Yes: a key or secret of another form is refused when a process starts. Nothing is sent",
  },
  {
    section: "List envelope",
    word: "`data`, `total`, `page`, `limit`, `totalPages`, `hasNextPage`, `hasPreviousPage`",
    dependence: "Yes, as shown: an answer without one of them is `unexpected-answer`, and nothing is kept of it",
  },
  {
    section: "Bill payment",
    word: "which fields are required",
    dependence: "Only `id` must be there; amounts and dates may be absent",
  },
  {
    section: "States and transitions",
    word: "transitions of the sync status",
    dependence: "No: the four statuses are requested, and any order is understood",
  },
  {
    section: "POST /sync/batches/{syncBatchId}/process",
    word: "what processing does, and its other responses",
    dependence: "A 200 without `message` is `batch-unknown`: an operator says whether it was processed",
  },
  { section: "Companies, connections and batch records", word: "all fields", dependence: "No: none is read" },
  { section: "Errors", word: "the shape of an error's body", dependence: "No: the status decides" },
  { section: "Limits", word: "rate limits and throttling headers", dependence: "No: a Retry-After is respected" },
];
