import { describe } from "vitest";
import type { Classification } from "./classify.ts";
import {
  answer,
  converging,
  type Expectation,
  holds,
  lost,
  notApplied,
  notSent,
  said,
  shown,
  unknownOutcome,
  unknownKeyed,
} from "./test-support/failure-model-rows.ts";

describe("GET sale", () => {
  // Its own status says where it stands: workflows/document/document-state.test.ts.
  holds(["getSale"], [["a document, whatever its status", shown(200), { kind: "ok" }]]);
});

describe("POST sale, credit note", () => {
  holds(
    ["createSale", "createCreditNote"],
    [
      ["201, a document", shown(201), { kind: "ok" }],
      ["202, a document in flight", shown(202), { kind: "ok" }],
      ["200, a document replayed", shown(200), { kind: "ok" }],
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
    ["409 of the service fits no row", said(409), { kind: "unexpected" }],
    ["a proxy's 422 fits no row", answer(422), { kind: "unexpected" }],
    ["a proxy's 413 fits no row", answer(413), { kind: "unexpected" }],
    ["a redirect fits no row", answer(307), { kind: "unexpected" }],
    [
      "422 without any id",
      said(422, { apiCode: "authority_rejected" }),
      { kind: "rejected-without-trace", repeatable: true },
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
          ["network, timeout", lost, unknownOutcome, rules],
          ["500", said(500), unknownOutcome, rules],
          ["a proxy's 502", answer(502), unknownOutcome, rules],
          ["408", said(408), unknownOutcome, rules],
          ["201, unreadable body", answer(201), unknownOutcome, rules],
          [
            "201, unreadable but for the id",
            answer(201, { sale: { id: "doc_1" } }),
            { kind: "unknown", documentId: "doc_1" },
            rules,
          ],
          ["409 of the service fits no row", said(409), unknownOutcome, rules],
          ["a proxy's 422 fits no row", answer(422), unknownOutcome, rules],
          ["a redirect fits no row", answer(307), unknownOutcome, rules],
          ["201, a document", shown(201), { kind: "ok" }, rules],
          [
            "422 without any id is not sent again by itself",
            said(422, { apiCode: "other" }),
            { kind: "rejected-without-trace", repeatable: false },
            rules,
          ],
        ],
      );
    });
  }

  const sale = { id: "sal_1", type: "sale" };
  const note = { id: "crn_1", type: "credit_note" };
  const withoutTrace: Classification = { kind: "rejected-without-trace", repeatable: true };
  holds(
    ["createSale"],
    [
      [
        "422 with `sale`",
        said(422, { sale, apiCode: "authority_rejected" }),
        { kind: "rejected", documentId: "sal_1" },
      ],
      [
        "422 with a sale of which only the id can be read",
        said(422, { sale: { id: "sal_1" } }),
        { kind: "rejected", documentId: "sal_1" },
      ],
      ["422 with a credit note, which is not ours", said(422, { sale: note }), withoutTrace],
      ["500 that names the sale", said(500, { sale }), { kind: "unknown-keyed", documentId: "sal_1" }],
    ],
  );
  holds(
    ["createCreditNote"],
    [
      ["422 with the credit note as `sale`", said(422, { sale: note }), { kind: "rejected", documentId: "crn_1" }],
      [
        "422 with a document that reverses a sale",
        said(422, { sale: { id: "crn_1", originalSaleId: "sal_1" } }),
        { kind: "rejected", documentId: "crn_1" },
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
      ["200, a document, whatever its status", shown(200), { kind: "ok" }],
      ["422", said(422, { apiCode: "authority_rejected" }), { kind: "rejected", documentId: undefined }],
      ["timeout", lost, converging],
      ["5xx", said(503), converging],
      ["408", answer(408), converging],
      ["200, unreadable body", answer(200), converging],
      ["not a byte left", notSent, notApplied],
      ["409 of the service fits no row", said(409), { kind: "unexpected" }],
      ["a proxy's 422 fits no row", answer(422), { kind: "unexpected" }],
      ["a redirect fits no row", answer(301), { kind: "unexpected" }],
    ],
  );
});
