import { expect, test } from "vitest";

import type { ServiceTrouble } from "../../contract/index.ts";
import { latestEpisode } from "./service-troubles.ts";

const seen = (sinceMs: number, seenAtMs: number, more: { orEarlier?: true } = {}) => ({
  trouble: { kind: "away", sinceMs, ...more } satisfies ServiceTrouble,
  seenAtMs,
});

test("the trouble of a service began with the first call that met the same trouble as the latest one", () => {
  const calls = [seen(300, 500), seen(200, 400), seen(100, 250)];
  expect(latestEpisode(calls)).toEqual({ trouble: { kind: "away", sinceMs: 100 }, seenAtMs: 500 });
});

test("a trouble that no call has met since the latest one began is a separate one", () => {
  const calls = [seen(100, 200), seen(300, 500, { orEarlier: true })];
  expect(latestEpisode(calls)).toEqual({ trouble: { kind: "away", sinceMs: 300, orEarlier: true }, seenAtMs: 500 });
});
