import { describe } from "vitest";
import type { Classification } from "./classification.ts";
import {
  answer,
  converging,
  document,
  type Expectation,
  holds,
  lost,
  notApplied,
  notSent,
  said,
  unknownDocument,
  unknownKeyed,
} from "./test-support/failure-model-rows.ts";

describe("GET sale", () => {
  holds(
    ["getSale"],
    [
      ["completed, with receipt", document(200, "completed"), { kind: "ok", replayed: false }],
      ["in flight", document(200, "in-flight"), { kind: "in-flight", replayed: false }],
      ["completed without receipt", document(200, "not-yet-whole"), { kind: "not-yet-whole", replayed: false }],
      ["failed", document(200, "failed"), { kind: "rejected", documentId: "doc_1" }],
      ["cancelled", document(200, "cancelled"), { kind: "cancelled", replayed: false }],
      [
        "a status not among the six",
        document(200, "unknown-status"),
        { kind: "unexpected", status: 200, documentId: "doc_1" },
      ],
    ],
  );
});

describe("POST sale, credit note", () => {
  holds(
    ["createSale", "createCreditNote"],
    [
      ["201, completed", document(201, "completed"), { kind: "ok", replayed: false }],
      ["202, in flight", document(202, "in-flight"), { kind: "in-flight", replayed: false }],
      ["200, replayed", document(200, "completed", true), { kind: "ok", replayed: true }],
      ["200, replayed, in flight", document(200, "in-flight", true), { kind: "in-flight", replayed: true }],
      ["200, replayed, failed", document(200, "failed", true), { kind: "rejected", documentId: "doc_1" }],
      [
        "201, a status not among the six",
        document(201, "unknown-status"),
        { kind: "unexpected", status: 201, documentId: "doc_1" },
      ],
      ["not a byte left", notSent, notApplied],
    ],
  );

  const keyed: readonly Expectation[] = [
    ["network, timeout", lost, unknownKeyed],
    ["500", said(500), unknownKeyed],
    ["a proxy's 502", answer(502), unknownKeyed],
    ["408", answer(408), unknownKeyed],
    ["201, unreadable body", answer(201), unknownKeyed],
    [
      "201, unreadable but for the id",
      answer(201, { sale: { id: "doc_1" } }),
      { kind: "unknown-keyed", documentId: "doc_1" },
    ],
    ["200 that is no replay", answer(200, { sale: { id: "doc_1" } }), { kind: "unknown-keyed", documentId: "doc_1" }],
    ["409 of the service fits no row", said(409), { kind: "unexpected", status: 409 }],
    ["a proxy's 422 fits no row", answer(422), { kind: "unexpected", status: 422 }],
    ["a proxy's 413 fits no row", answer(413), { kind: "unexpected", status: 413 }],
    ["a redirect fits no row", answer(307), { kind: "unexpected", status: 307 }],
    [
      "422 without any id",
      said(422, { apiCode: "authority_rejected" }),
      { kind: "rejected-without-trace", byAuthority: true, repeatable: true },
    ],
  ];
  holds(["createSale", "createCreditNote"], keyed);
  holds(
    ["createCreditNote"],
    keyed.map(([says, outcome, means]) => [
      `${says}, whatever the dialect says of sales`,
      outcome,
      means,
      { saleKey: "off" },
    ]),
  );

  for (const saleKey of ["sent", "off"] as const) {
    describe(`a sale whose key is ${saleKey}`, () => {
      const rules = { saleKey };
      holds(
        ["createSale"],
        [
          ["not a byte left", notSent, notApplied, rules],
          ["network, timeout", lost, unknownDocument, rules],
          ["500", said(500), unknownDocument, rules],
          ["a proxy's 502", answer(502), unknownDocument, rules],
          ["408", said(408), unknownDocument, rules],
          ["201, unreadable body", answer(201), unknownDocument, rules],
          [
            "201, unreadable but for the id",
            answer(201, { sale: { id: "doc_1" } }),
            { kind: "unknown", attention: "document-unknown", documentId: "doc_1" },
            rules,
          ],
          ["409 of the service fits no row", said(409), unknownDocument, rules],
          ["a proxy's 422 fits no row", answer(422), unknownDocument, rules],
          ["a redirect fits no row", answer(307), unknownDocument, rules],
          ["201, completed", document(201, "completed"), { kind: "ok", replayed: false }, rules],
          [
            "422 without any id is not sent again by itself",
            said(422, { apiCode: "other" }),
            { kind: "rejected-without-trace", byAuthority: false, repeatable: false },
            rules,
          ],
        ],
      );
    });
  }

  const sale = { id: "sal_1", type: "sale" };
  const note = { id: "crn_1", type: "credit_note" };
  const withoutTrace: Classification = { kind: "rejected-without-trace", byAuthority: false, repeatable: true };
  holds(
    ["createSale"],
    [
      [
        "422 with `sale`",
        said(422, { sale, apiCode: "authority_rejected" }),
        { kind: "rejected", documentId: "sal_1", byAuthority: true },
      ],
      [
        "422 with a sale of which only the id can be read",
        said(422, { sale: { id: "sal_1" } }),
        { kind: "rejected", documentId: "sal_1", byAuthority: false },
      ],
      ["422 with a credit note, which is not ours", said(422, { sale: note }), withoutTrace],
      ["500 that names the sale", said(500, { sale }), { kind: "unknown-keyed", documentId: "sal_1" }],
    ],
  );
  holds(
    ["createCreditNote"],
    [
      [
        "422 with the credit note as `sale`",
        said(422, { sale: note }),
        { kind: "rejected", documentId: "crn_1", byAuthority: false },
      ],
      [
        "422 with a document that reverses a sale",
        said(422, { sale: { id: "crn_1", originalSaleId: "sal_1" } }),
        { kind: "rejected", documentId: "crn_1", byAuthority: false },
      ],
      ["422 with the sale that it reverses", said(422, { sale }), withoutTrace],
      ["500 that names the sale that it reverses", said(500, { sale }), unknownKeyed],
      [
        "422 already credited, by its code",
        said(422, { apiCode: "already_credited", sale: note }),
        { kind: "already-credited" },
      ],
      [
        "422 already credited, by a code of the dialect",
        said(422, { apiCode: "credited" }),
        { kind: "already-credited" },
        { alreadyCredited: "credited" },
      ],
      [
        "422 already credited, by its creditNoteId whatever the code",
        said(422, { apiCode: "x", creditNoteId: "crn_9" }),
        { kind: "already-credited", creditNoteId: "crn_9" },
        { alreadyCredited: null },
      ],
      [
        "409 with a creditNoteId",
        said(409, { creditNoteId: "crn_9" }),
        { kind: "already-credited", creditNoteId: "crn_9" },
      ],
    ],
  );
});

describe("POST /sales/{id}/retry", () => {
  holds(
    ["retrySale"],
    [
      ["200 completed", document(200, "completed"), { kind: "ok", replayed: false }],
      ["200 in flight", document(200, "in-flight"), { kind: "in-flight", replayed: false }],
      ["200 failed", document(200, "failed"), { kind: "rejected", documentId: "doc_1" }],
      [
        "422",
        said(422, { apiCode: "authority_rejected" }),
        { kind: "rejected", documentId: undefined, byAuthority: true },
      ],
      ["timeout", lost, converging],
      ["5xx", said(503), converging],
      ["408", answer(408), converging],
      ["200, unreadable body", answer(200), converging],
      ["not a byte left", notSent, notApplied],
      ["409 of the service fits no row", said(409), { kind: "unexpected", status: 409 }],
      ["a proxy's 422 fits no row", answer(422), { kind: "unexpected", status: 422 }],
      ["a redirect fits no row", answer(301), { kind: "unexpected", status: 301 }],
    ],
  );
});
