import { expect, test } from "vitest";

import { findingOf, findName, type NameSearch } from "./find-name.ts";
import type { Answer } from "./prober.ts";

interface Service {
  /** The one name that it knows. */
  knows: string;
  refusesUnknownNames: boolean;
  refusesWrongValues: boolean;
}

const taken = { kind: "ok", status: 200, body: {}, replayed: false } satisfies Answer;
const refused: Answer = { kind: "refused", status: 400, words: [] };

function answers({ knows, refusesUnknownNames, refusesWrongValues }: Service, name: string, value: unknown): Answer {
  if (name !== knows) return refusesUnknownNames ? refused : taken;
  return value !== "good" && refusesWrongValues ? refused : { ...taken, body: { effect: value } };
}

async function search(service: Service, more: Partial<NameSearch> = {}) {
  const sent: string[] = [];
  const result = await findName({
    candidates: ["size", "limit", "take"],
    send: async (name, value) => {
      sent.push(`${name}=${String(value)}`);
      return answers(service, name, value);
    },
    verdictOf: (answer) => (answer.kind === "ok" ? "taken" : answer.kind === "refused" ? "refused" : "other"),
    valid: ["good"],
    invalid: "odd",
    strict: service.refusesUnknownNames,
    ...more,
  });
  return { name: result.found?.name, refuted: result.refuted, sent };
}

const showsEffect = (answer: Answer): boolean => answer.kind === "ok" && JSON.stringify(answer.body) !== "{}";

test.each([
  ["refuses unknown names and wrong values", { refusesUnknownNames: true, refusesWrongValues: true }],
  ["refuses unknown names alone", { refusesUnknownNames: true, refusesWrongValues: false }],
  ["refuses wrong values alone", { refusesUnknownNames: false, refusesWrongValues: true }],
])("the name of a setting is found for a service that %s", async (_what, service) => {
  expect(await search({ knows: "limit", ...service })).toMatchObject({ name: "limit" });
});

test("the name of a setting is found by its effect where the service refuses nothing", async () => {
  const service = { knows: "limit", refusesUnknownNames: false, refusesWrongValues: false };
  expect(await search(service, { shows: showsEffect })).toEqual({
    name: "limit",
    refuted: ["size"],
    sent: ["size=good", "limit=good"],
  });
});

test("no name is called wrong where a service refuses nothing and shows nothing", async () => {
  const service = { knows: "limit", refusesUnknownNames: false, refusesWrongValues: false };
  expect(await search(service)).toMatchObject({ name: undefined, refuted: [] });
  expect(await search(service, { documented: true })).toMatchObject({
    name: undefined,
    refuted: ["size", "limit", "take"],
  });
});

test("a name that is not among the candidates is not found, and those that were refused are wrong", async () => {
  const service = { knows: "zz", refusesUnknownNames: true, refusesWrongValues: true };
  const { name, refuted } = await search(service);
  expect({ name, refuted }).toEqual({ name: undefined, refuted: ["size", "limit", "take"] });
  expect(findingOf("size", { refuted })).toMatchObject({ kind: "wrong" });
  expect(findingOf(null, { refuted })).toMatchObject({ kind: "open" });
});

test("an answer that says nothing about names ends the search", async () => {
  const send = async (): Promise<Answer> => ({ kind: "unknown", message: "lost" });
  const service = { knows: "limit", refusesUnknownNames: true, refusesWrongValues: true };
  expect(await search(service, { send })).toMatchObject({ name: undefined, refuted: [] });
});
