import { access, readFile, readdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
/** Where a page stands for a reader who has a package alone. */
const ADDRESS = "https://github.com/fiscalflow/fiscalflow/blob/main/";

/** The pages at the top, those of the packages, and all of these folders. */
async function pages(): Promise<string[]> {
  const names = await readdir(ROOT);
  for (const folder of ["docs", "examples"]) {
    names.push(...(await readdir(join(ROOT, folder), { recursive: true })).map((name) => join(folder, name)));
  }
  for (const name of await readdir(join(ROOT, "packages"))) names.push(join("packages", name, "README.md"));
  return names.filter((name) => name.endsWith(".md")).map((name) => join(ROOT, name));
}

/** A heading's anchor, as GitHub makes it. */
function anchorOf(heading: string): string {
  const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  return words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
}

async function anchorsOf(path: string): Promise<string[]> {
  const text = (await readFile(path, "utf8")).replaceAll(/^```.*?^```/gms, "");
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading.trim()));
}

test("every link in the documentation leads to an existing file and heading", async () => {
  const paths = await pages();
  expect(paths.length).toBeGreaterThan(30);
  const lost: string[] = [];
  for (const page of paths) {
    const text = (await readFile(page, "utf8")).replaceAll(/^```.*?^```/gms, "");
    // npm shows a package's readme, and has none of the files beside it.
    const isPublished = relative(ROOT, page).startsWith("packages");
    if (isPublished)
      for (const [, name = ""] of text.matchAll(/(?<!\/)\b(docs\/[a-z-]+\.md)/g))
        lost.push(`${relative(ROOT, page)}: ${name}`);
    for (const [, link = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const isOurs = link.startsWith(ADDRESS);
      if (!isOurs && /^https?:/.test(link)) continue;
      const [file = "", anchor] = (isOurs ? link.slice(ADDRESS.length) : link).split("#");
      if (isPublished && !isOurs && file !== "") lost.push(`${relative(ROOT, page)}: ${link}`);
      const target = file === "" ? page : resolve(isOurs ? ROOT : dirname(page), file);
      const isThere = await access(target).then(
        () => anchor === undefined || anchorsOf(target).then((anchors) => anchors.includes(anchor)),
        () => false,
      );
      if (!isThere) lost.push(`${relative(ROOT, page)}: ${link}`);
    }
  }
  expect(lost).toEqual([]);
});
