import { readdirSync, readFileSync } from "node:fs";
import { posix, resolve } from "node:path";
import { expect, test } from "vitest";

import { ARROWS, isTest, roomOf as linterRoomOf, within } from "./arrows.mjs";

const ROOT = resolve(import.meta.dirname, "..");
const FILES = ["src", "workflows", "activities"]
  .flatMap((top) => readdirSync(resolve(ROOT, top), { recursive: true }).map((path) => posix.join(top, String(path))))
  .filter((path) => path.endsWith(".ts") && !isTest(path));
const TEXTS = new Map(FILES.map((path) => [path, readFileSync(resolve(ROOT, path), "utf8")]));

/** The heads, by their room: a folder with those of its folders that have no head of their own. */
const HEADS = new Map<string, { file: string; standsOn: string[] }>();
for (const [file, text] of TEXTS) {
  const [head = ""] = /^(#!.*\n)?\/\*\*[^]*?\*\//.exec(text) ?? [];
  const [, standsOn] = /Stands on: (.*)\./.exec(head.replaceAll(/\n \* /g, " ")) ?? [];
  const room = posix.dirname(file);
  if (standsOn === undefined) continue;
  if (HEADS.has(room)) throw new Error(`${room} has two heads: ${HEADS.get(room)?.file} and ${file}`);
  HEADS.set(room, { file, standsOn: [...standsOn.matchAll(/`[^`]+`(?: \(types\))?/g)].map(String).toSorted() });
}

function roomOf(path: string): string {
  const room = [...HEADS.keys()].filter((one) => within(path, one)).toSorted((a, b) => b.length - a.length)[0];
  if (room === undefined) throw new Error(`${path} is in no room that has a head`);
  return room;
}

const IMPORTS = [...TEXTS].flatMap(([from, text]) =>
  [...text.matchAll(/^(?:import|export) (type )?[^;"]*?from "(\.[^"]+)"|import\("(\.[^"]+)"\)/gm)].map(
    ([, type, source = "", loaded = source]) => ({
      from,
      to: posix.join(posix.dirname(from), source || loaded),
      isType: type !== undefined,
    }),
  ),
);

test("every room has a head, whether the linter knows it or not", () => {
  const folders = FILES.map((path) => posix.dirname(path)).filter((path) =>
    /^(src\/(dev\/)?|workflows\/|activities\/)[^/]+$/.test(path),
  );
  const rooms = [...folders, ...Object.keys(ARROWS).filter((room) => !room.endsWith(".ts"))];
  expect([...new Set(rooms)].filter((room) => !HEADS.has(room))).toEqual([]);
});

test.each([...HEADS])("the head of %s says whom it imports", (room, { standsOn }) => {
  const made = IMPORTS.filter(({ from, to }) => roomOf(from) === room && roomOf(to) !== room);
  const rooms = [...new Set(made.map(({ to }) => roomOf(to)))];
  const isTypes = (other: string): boolean => made.every(({ to, isType }) => roomOf(to) !== other || isType);
  expect(standsOn).toEqual(rooms.map((other) => `\`${other}\`${isTypes(other) ? " (types)" : ""}`).toSorted());
});

test("the linter allows no import that is not made, and values only where values are imported", () => {
  const unused = Object.entries(ARROWS).flatMap(([room, { files, typesOf = [] }]) => {
    const made = IMPORTS.filter(({ from }) => linterRoomOf(from) === room);
    const isMade = (place: string, asType: boolean): boolean =>
      made.some(({ to, isType }) => within(to, place) && isType === asType);
    return [
      ...files.filter((place) => !isMade(place, false)).map((place) => `${room} → ${place}`),
      ...typesOf.filter((place) => !isMade(place, true)).map((place) => `${room} → ${place} (types)`),
    ];
  });
  expect(unused).toEqual([]);
});
