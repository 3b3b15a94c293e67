import { expect, test } from "vitest";

import { findBusinessNames, findList, findReportName } from "./find-in-answers.ts";

const BRANCHES = [
  { name: "Nairobi", bhf: "00", branch_key: "x", uuid: "b-1" },
  { name: "Mombasa", bhf: "01", branch_key: "x", uuid: "b-2" },
];

test("the names of businesses are found by what they hold", () => {
  const answer = { data: { meta: [], companies: [{ title: "Duka", company_id: "biz_1", places: BRANCHES }] } };
  expect(findBusinessNames(answer, undefined)).toEqual({
    list: "companies",
    id: "company_id",
    branches: "places",
    branchId: "uuid",
    authorityId: "bhf",
    businesses: [
      {
        id: "biz_1",
        branches: [
          { id: "b-1", authorityId: "00" },
          { id: "b-2", authorityId: "01" },
        ],
      },
    ],
  });
});

test("the list may be `data` itself, and the field with the configured business's id is the id", () => {
  const answer = { data: [{ id: "row-1", ref: "biz_1", branches: [] }] };
  expect(findBusinessNames(answer, "biz_1")).toEqual({
    list: null,
    id: "ref",
    businesses: [{ id: "biz_1", branches: [] }],
  });
});

test.each([[undefined], [null], ["text"], [{ data: 1 }], [{ data: {} }], [[]]])(
  "%j holds no businesses, and is no error",
  (answer) => {
    expect(findBusinessNames(answer, "biz_1")).toEqual({ businesses: [] });
  },
);

test("a list is the value itself, or the longest list of objects in it", () => {
  expect(findList([{ id: 1 }])?.name).toBeNull();
  expect(findList({ tags: ["a", "b"], rows: [{ id: 1 }] })?.name).toBe("rows");
  expect(findList({ total: 1 })).toBeUndefined();
});

test("the report of a stock movement is the object that holds its two parts", () => {
  expect(findReportName({ movementId: "m", kra: { stockIo: { status: "ok" } } })).toBe("kra");
  expect(findReportName({ movementId: "m", stockIo: "ok" })).toBeUndefined();
});
