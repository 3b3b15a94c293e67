import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { isCalendarDate, nairobiAndUtcTime, nairobiDate, nairobiTime } from "./nairobi-date.ts";

describe("the date in Nairobi", () => {
  test.each([
    ["2026-11-21T20:59:59.999Z", "2026-11-21"],
    ["2026-11-21T21:00:00.000Z", "2026-11-22"],
    ["2026-11-21T23:59:59.999Z", "2026-11-22"],
    ["2026-11-22T00:00:00.000Z", "2026-11-22"],
    ["2028-02-28T20:59:00.000Z", "2028-02-28"],
    ["2028-02-28T21:00:00.000Z", "2028-02-29"],
    ["2028-02-29T21:00:00.000Z", "2028-03-01"],
    ["2026-02-28T21:00:00.000Z", "2026-03-01"],
    ["2026-12-31T20:59:59.999Z", "2026-12-31"],
    ["2026-12-31T21:00:00.000Z", "2027-01-01"],
  ])("at %s is %s", (instant, date) => {
    expect(nairobiDate(Date.parse(instant))).toBe(date);
  });

  test("is what the time zone database says, at any instant of this century", () => {
    const kenya = new Intl.DateTimeFormat("en-CA", { timeZone: "Africa/Nairobi", dateStyle: "short" });
    const instant = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2099, 11) });
    fc.assert(
      fc.property(instant, (atMs) => {
        expect(nairobiDate(atMs)).toBe(kenya.format(atMs));
        expect(isCalendarDate(nairobiDate(atMs))).toBe(true);
      }),
    );
  });
});

describe("a calendar date", () => {
  test.each(["2026-11-21", "2028-02-29", "2026-12-31", "2000-02-29"])("%s exists", (text) => {
    expect(isCalendarDate(text)).toBe(true);
  });

  test.each([
    "0000-00-00",
    "0000-01-01",
    "2026-11-31",
    "2026-13-45",
    "2026-02-29",
    "2026-02-30",
    "2100-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-04-31",
    "2026-01-00",
    "21-11-2026",
    "2026-1-1",
    "20261121",
    "2026-11-21T00:00:00Z",
    "2026-11-21 ",
    "2026-11-21\n",
    "+002026-11-21",
    "",
  ])("%j does not", (text) => {
    expect(isCalendarDate(text)).toBe(false);
  });
});

test("the dates that exist are those of the calendar, of every day of 500 years", () => {
  const wrong: string[] = [];
  for (let year = 1900; year < 2400; year++)
    for (let month = 1; month <= 12; month++)
      for (let day = 0; day <= 32; day++) {
        const text = `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
        const exists = day > 0 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
        if (isCalendarDate(text) !== exists) wrong.push(text);
      }
  expect(wrong).toEqual([]);
});

test("an instant is shown as a shop's clock showed it, with UTC behind it where both are wanted", () => {
  const atMs = Date.parse("2026-11-21T21:05:59.999Z");
  expect(nairobiTime(atMs)).toBe("2026-11-22 00:05 EAT");
  expect(nairobiAndUtcTime(atMs)).toBe("2026-11-22 00:05:59 EAT (21:05:59 UTC)");
});
