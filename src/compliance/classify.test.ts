import { describe, expect, test } from "vitest";
import { type Classification, classify } from "./classify.ts";
import { NAMED_OPERATIONS, operation, type OperationName, SHOWN_OPERATIONS } from "./operations.ts";
import {
  answer,
  base,
  converging,
  holds,
  lost,
  notApplied,
  notSent,
  refused,
  said,
  shown,
  unknownOutcome,
  transient,
} from "./test-support/failure-model-rows.ts";

const everyOperation: readonly OperationName[] = [...SHOWN_OPERATIONS, ...NAMED_OPERATIONS];
const allButStock = everyOperation.filter((name) => name !== "adjustStock");
const reads = SHOWN_OPERATIONS.filter((name) => operation(name).riskClass === "read");
const plainReads = reads.filter((name) => name !== "getSale");

describe("any call", () => {
  holds(everyOperation, [
    ["429, with how long to wait", said(429, { retryAfterMs: 17_000 }), { kind: "deferred", retryAfterMs: 17_000 }],
    ["429 of something in between", answer(429), { kind: "deferred" }],
    ["kept back by the budget", { kind: "held-back", retryAfterMs: 5 }, { kind: "deferred", retryAfterMs: 5 }],
    ["401 with the envelope", said(401), { kind: "configuration" }],
    ["403 with the envelope", said(403), { kind: "configuration" }],
    ["refused by the client itself", { kind: "refused-locally" }, refused("invalid-request")],
  ]);
  holds(allButStock, [
    ["401 without the envelope", answer(401), { kind: "configuration" }],
    ["403 without the envelope", answer(403), { kind: "configuration" }],
    ["400 with the error envelope", said(400), refused("invalid-request")],
    ["404", said(404), refused("not-found")],
    ["404 without the envelope", answer(404), refused("not-found")],
  ]);
});

describe("GET, purchases/pull", () => {
  holds(reads, [
    ["network before anything was sent", notSent, transient],
    ["network, timeout", lost, transient],
    ["500", said(500), transient],
    ["a proxy's 503", answer(503), transient],
    ["408", said(408), transient],
    ["200 whose body is not what the document says", answer(200), transient],
    ["204", answer(204), transient],
    ["a proxy's 400", answer(400), transient],
    ["a redirect fits no row", answer(302), { kind: "unexpected" }],
    ["a 409 of the service fits no row", said(409), { kind: "unexpected" }],
    ["a 422 of the service fits no row", said(422), { kind: "unexpected" }],
  ]);
  holds(plainReads, [["the answer that the document shows", shown(200), { kind: "ok" }]]);
});

describe("POST stock adjustment", () => {
  const ok = { stockIo: "ok", stockMaster: "ok" };
  holds(
    ["adjustStock"],
    [
      ["201 with movementId", shown(201, { report: ok }), { kind: "ok" }],
      ["201, stockIo not ok", shown(201, { report: { ...ok, stockIo: "pending" } }), { kind: "unreported" }],
      ["201, stockMaster not ok", shown(201, { report: { ...ok, stockMaster: "no" } }), { kind: "unreported" }],
      ["201, a report without its parts", shown(201, { report: {} }), { kind: "unreported" }],
      ["201 without the report: it is not read", shown(201), { kind: "ok" }],
      ["refused before any byte left", notSent, notApplied],
      ["400 with the envelope", said(400), refused("stock-refused")],
      ["404 with the envelope", said(404), refused("stock-refused")],
      ["409 with the envelope", said(409), refused("stock-refused")],
      ["422 with the envelope", said(422), refused("stock-refused")],
      ["timeout, reset after bytes left", lost, unknownOutcome],
      ["5xx with the envelope", said(500), unknownOutcome],
      ["a proxy's 502", answer(502), unknownOutcome],
      ["408 with the envelope", said(408), unknownOutcome],
      ["a proxy's 400", answer(400), unknownOutcome],
      ["a proxy's 401", answer(401), unknownOutcome],
      ["a proxy's 403", answer(403), unknownOutcome],
      ["a proxy's 404", answer(404), unknownOutcome],
      ["201 without movementId", answer(201), unknownOutcome],
      ["any other 2xx", answer(200), unknownOutcome],
      ["a redirect", answer(302), unknownOutcome],
    ],
  );
});

describe("POST register", () => {
  const item = (registrationStatus: string, missing: string[] = []) => ({ item: { registrationStatus, missing } });
  holds(
    ["registerItem"],
    [
      ["200, REGISTERED", shown(200, item("REGISTERED")), { kind: "ok" }],
      ["200, not REGISTERED", shown(200, item("PENDING")), converging],
      ["200, a registrationStatus not known", shown(200, item("ARCHIVED")), converging],
      ["timeout", lost, converging],
      ["5xx", said(500), converging],
      ["200, unreadable body", answer(200), converging],
      ["not a byte left", notSent, notApplied],
      [
        "422, the item shows REGISTERED and no force was asked",
        said(422, item("REGISTERED", ["productType"])),
        { kind: "ok" },
      ],
      [
        "422, REGISTERED although force was asked",
        said(422, item("REGISTERED")),
        refused("item-rejected"),
        { forceAsked: true },
      ],
      [
        "422, the item has needs",
        said(422, item("PENDING", ["productType", "classificationMapping"])),
        { kind: "needs-data", missing: ["productType", "classificationMapping"] },
      ],
      ["422, nothing is missing", said(422, item("PENDING")), refused("item-rejected")],
      ["422 without the item", said(422), refused("item-rejected")],
      ["409 of the service fits no row", said(409), { kind: "unexpected" }],
      ["a proxy's 422 fits no row", answer(422), { kind: "unexpected" }],
    ],
  );
});

describe("a write that the document only names", () => {
  holds(
    ["createItem"],
    [
      ["2xx", shown(201), { kind: "ok" }],
      ["not a byte left", notSent, notApplied],
      ["timeout, 5xx", lost, { kind: "unknown" }],
      ["409 of the service fits no row", said(409), { kind: "unexpected" }],
    ],
  );
});

describe("the tables as a whole", () => {
  const flags = [true, false];
  const statuses = [200, 201, 202, 204, 302, 400, 401, 403, 404, 408, 409, 413, 418, 422, 429, 451, 500, 502, 503, 504];
  const answers = statuses.flatMap((status) => flags.map((envelope) => answer(status, { envelope })));
  const repeatable = new Set<Classification["kind"]>([
    "transient",
    "not-applied",
    "unknown-keyed",
    "converging",
    "deferred",
  ]);

  test.each(everyOperation)(
    "%s: no answer is dropped, and no unguarded write is repeated once bytes may have been sent",
    (name) => {
      const repeated: unknown[] = [];
      for (const saleKey of ["trusted", "sent", "off"] as const) {
        for (const outcome of [...answers, lost]) {
          const { kind } = classify(name, outcome, { ...base, saleKey });
          expect(kind).not.toBe("ok");
          const unguarded =
            name === "adjustStock" || name === "createItem" || (name === "createSale" && saleKey !== "trusted");
          const tooMany = outcome.kind === "answer" && outcome.status === 429;
          if (unguarded && !tooMany && repeatable.has(kind)) repeated.push({ saleKey, outcome, kind });
        }
      }
      expect(repeated).toEqual([]);
    },
  );
});
