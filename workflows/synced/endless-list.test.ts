import { describe, expect, test } from "vitest";

import { type PagesRead, whyEndless, withPage } from "./position.ts";

const page = (fingerprint: string | undefined, rows = 100) => ({ rows, fingerprint });

/** How many pages are read of a pass before it counts as endless; undefined: it never does. */
function pagesUntilEndless(of: (number: number) => ReturnType<typeof page>, most: number): number | undefined {
  let read: PagesRead | undefined;
  for (let number = 1; number <= most; number++) {
    read = withPage(read, "list", of(number));
    if (whyEndless(read) !== undefined) return number;
  }
  return undefined;
}

describe("a list is endless", () => {
  test.each([1, 2, 3, 7, 50])("where the same %i pages come again and again, after any beginning", (length) => {
    for (const beginning of [0, 1, 5, 40]) {
      const pages = pagesUntilEndless((n) => page(n <= beginning ? `b${n}` : `c${n % length}`), 5_000);
      expect(pages).toBeDefined();
      expect(pages).toBeLessThan(4 * (beginning + length) + 10 * length + 4);
    }
  });

  test("where pages without rows come again and again", () => {
    expect(pagesUntilEndless(() => page(undefined, 0), 100)).toBeLessThan(15);
  });

  test("where it has more pages than any list, whatever is on them", () => {
    expect(pagesUntilEndless((n) => page(`p${n}`), 30_000)).toBe(20_000);
    expect(whyEndless({ pass: "list", pages: 20_000, markedAt: 1, repeats: 0 })).toContain("20000 pages");
  });
});

test("a list whose rows move by a whole page while it is read is none", () => {
  let moved = 0;
  const pages = pagesUntilEndless((n) => {
    if (n % 10 === 0 && moved < 5) moved += 1;
    return page(`p${n - moved}`);
  }, 1_000);
  expect(pages).toBeUndefined();
});

test("another pass begins anew, and pages of which no fingerprint is known are not compared", () => {
  const read = withPage(withPage(undefined, "list", page("a")), "pulled", page("a"));
  expect(read).toMatchObject({ pass: "pulled", pages: 1, repeats: 0 });
  expect(pagesUntilEndless(() => page(undefined), 1_000)).toBeUndefined();
});
