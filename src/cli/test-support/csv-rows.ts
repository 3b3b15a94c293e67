/** The lines of a CSV by one of their columns, each a record of its columns. */
export function csvRows(csv: string, key: string): Record<string, Record<string, string>> {
  const [head = "", ...lines] = csv.trimEnd().split("\r\n");
  const split = (line: string): string[] =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
      ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? "",
    );
  const names = split(head);
  const rows = lines.map((line) => Object.fromEntries(split(line).map((value, n) => [names[n] ?? "", value])));
  return Object.fromEntries(rows.map((row) => [row[key] ?? "", row]));
}
