import { z } from "zod";

import {
  type AboutSetting,
  distinctNames,
  group,
  name,
  optionalName,
  parseOverrides,
  setting,
  settingsOf,
} from "../http/dialect-settings.ts";

/**
 * The names that the document "Accounting Service" does not show: what each means, what happens while it is wrong, and
 * what to ask the provider. Every default is the product's own choice, and configuration overrides it. docs/dialect.md is
 * made from this file.
 */

function ofBillPayments(what: string, about: Partial<AboutSetting> = {}): AboutSetting {
  return {
    section: "GET /bill-payments",
    meaning: `The query parameter for ${what}`,
    ifWrong:
      "400, or a service that ignores unknown parameters answers as if it were absent: the bill payments sync waits with `invalid-request` or `unexpected-answer`, which name the setting",
    question: `What is the name of the query parameter of GET /bill-payments for ${what}?`,
    ...about,
  };
}

/** Of the webhooks, of which the document says only that there is a secret. */
function ofWebhooks(meaning: string, question: string, about: Partial<AboutSetting> = {}): AboutSetting {
  return {
    section: "Events",
    meaning,
    ifWrong:
      "webhooks are answered 401 and change nothing, and payments are read only on the Schedule; the receiver counts them by reason in its metrics, and in one log line a minute",
    question,
    optional: true,
    ...about,
  };
}

const header = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "must be the name of a header");

const webhookSchema = z
  .strictObject({
    enabled: setting(
      z.boolean().default(false),
      ofWebhooks(
        "Whether webhooks are received",
        "Which events does the accounting service send as webhooks, and how are they delivered?",
        { ifWrong: "`false`: webhooks are answered 404, and payments are read only on the Schedule" },
      ),
    ),
    signatureHeader: setting(
      header.default("X-Signature"),
      ofWebhooks("The header with the signature", "Which header of a webhook carries its signature?", {
        values: "the name of a header",
      }),
    ),
    signaturePrefix: setting(
      z.string().default(""),
      ofWebhooks(
        "The text before the signature in its header, for example `sha256=`",
        "Does anything stand before the signature in its header, such as `sha256=`?",
        { values: "any text" },
      ),
    ),
    timestampHeader: setting(
      header.nullable().default(null),
      ofWebhooks(
        "The header with the signed timestamp; `null`: there is none",
        "Which header of a webhook carries the timestamp that is signed with it, if any?",
        { values: "the name of a header, `null`" },
      ),
    ),
    timestampUnit: setting(
      z.enum(["ms", "s"]).default("ms"),
      ofWebhooks("The unit of the timestamp", "Is the timestamp of a webhook in milliseconds or in seconds?"),
    ),
    signed: setting(
      z.enum(["body", "timestamp+body", "timestamp.body"]).default("body"),
      ofWebhooks(
        "What is signed: the body's bytes, or the timestamp, the text between, and the body's bytes",
        "What exactly does the signature of a webhook cover: the body, or the timestamp and the body, and what stands between them?",
      ),
    ),
    encoding: setting(
      z.enum(["hex", "base64"]).default("hex"),
      ofWebhooks("The encoding of the signature", "Is the signature of a webhook hex or base64?"),
    ),
    eventId: setting(
      z
        .union([z.string().regex(/^\S+$/, "must be a name without spaces"), z.strictObject({ header })])
        .nullable()
        .default(null),
      ofWebhooks(
        "Where an event's id is: in a field of the body, or in a header; `null`: nowhere",
        "Which field or header of a webhook identifies the event?",
        {
          values: "a name, `{ header }`, `null`",
          ifWrong: "webhooks are accepted all the same; a repeated one triggers one more synchronisation",
        },
      ),
    ),
  })
  .superRefine(({ signed, timestampHeader }, context) => {
    const refuse = (entry: string, message: string): void =>
      context.addIssue({ code: "custom", path: [entry], message });
    if (signed !== "body" && timestampHeader === null)
      refuse("timestampHeader", `must be named where \`signed\` is ${signed}`);
    // Anybody who has seen one webhook could send it again for ever, under a timestamp of now.
    if (signed === "body" && timestampHeader !== null)
      refuse(
        "signed",
        "must be timestamp+body or timestamp.body where `timestampHeader` is named: one that is not signed proves nothing",
      );
  });

const dialectSchema = group({
  billPayments: distinctNames({
    page: name("page", ofBillPayments("the page number")),
    limit: name(
      "limit",
      ofBillPayments("the page size (at most 100)", {
        ifWrong:
          "400 and `invalid-request` of the bill payments sync, or pages of the accounting service's own size (more calls, the same rows), which `doctor` and the log say",
      }),
    ),
    paymentMethod: optionalName(
      "paymentMethod",
      ofBillPayments("the payment method", {
        ifWrong: "nothing changes: fiscalflow's own synchronisation does not send it",
        optional: true,
      }),
    ),
    status: optionalName(
      "status",
      ofBillPayments("the sync status", {
        meaning: "The query parameter for the sync status; `null`: no statuses are read",
      }),
    ),
    sortBy: optionalName(
      "sortBy",
      ofBillPayments("the sort field", {
        meaning: "The query parameter for the sort field; `null`: bill payments cannot be synced",
      }),
    ),
    sortDirection: optionalName(
      "sortDirection",
      ofBillPayments("the sort direction", {
        meaning: "The query parameter for the sort direction; `null`: bill payments cannot be synced",
      }),
    ),
  }),
  companies: group({
    list: optionalName("data", {
      section: "GET /companies",
      meaning: "The key of the list of companies; `null`: the answer itself is the list",
      ifWrong: "nothing changes: the call is made only to see whether the key is accepted",
      question: "In the answer of GET /companies, under which key stands the list?",
      optional: true,
    }),
  }),
  signature: group({
    query: setting(z.boolean().default(false), {
      section: "Authentication, 4",
      meaning: "Whether the query string is part of the signed path; only with a client secret",
      ifWrong:
        "each signed request with a query is answered 401: `doctor` names the setting, and the bill payments sync shows `credentials`",
      question: "Does the “request path” of the signed message contain the query string?",
    }),
  }),
  webhook: webhookSchema.prefault({}),
});

export type AccountingDialect = z.output<typeof dialectSchema>;

export const accountingSettings = () => settingsOf(dialectSchema);

/** Partial overrides, merged over the defaults. @throws DialectError */
export function parseAccountingDialect(overrides?: unknown): AccountingDialect {
  return parseOverrides(dialectSchema, overrides);
}
