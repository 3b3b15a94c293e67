/** Names in answers, found by their content. Pure; every function takes any JSON. */

export interface SeenBranch {
  id?: string;
  authorityId?: string;
}

export interface SeenBusiness {
  id?: string;
  branches: SeenBranch[];
}

export interface BusinessNames {
  /** `null`: `data` itself is the list. Undefined: there is no list. */
  list?: string | null;
  id?: string;
  branches?: string;
  branchId?: string;
  authorityId?: string;
  businesses: SeenBusiness[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The names in the answer of GET /v1/businesses.
 * @param knownId the configured business, where there is one: the field that holds it is the id
 */
export function findBusinessNames(answer: unknown, knownId: string | undefined): BusinessNames {
  const listed = findList(fieldsOf(answer)["data"]);
  if (listed === undefined) return { businesses: [] };
  const { name: list, rows } = listed;
  const id = keyHolding(rows, knownId) ?? idKeyOf(rows, []);
  const branches = branchesKeyOf(rows);
  const branchRows = branches === undefined ? [] : rows.flatMap((row) => rowsIn(row[branches]));
  const authorityId = authorityKeyOf(branchRows);
  const branchId = idKeyOf(branchRows, authorityId === undefined ? [] : [authorityId]);
  const businesses = rows.map((row) => ({
    ...textAt("id", row, id),
    branches:
      branches === undefined ? [] : rowsIn(row[branches]).map((branch) => branchOf(branch, branchId, authorityId)),
  }));
  return {
    list,
    ...(id !== undefined && { id }),
    ...(branches !== undefined && { branches }),
    ...(branchId !== undefined && { branchId }),
    ...(authorityId !== undefined && { authorityId }),
    businesses,
  };
}

/** Where the rows stand: under which key (`null`: the value itself is the list). The longest list of objects counts. */
export function findList(value: unknown): { name: string | null; rows: Fields[] } | undefined {
  if (Array.isArray(value)) return { name: null, rows: rowsIn(value) };
  const lists = Object.entries(fieldsOf(value)).filter(([, inner]) => Array.isArray(inner));
  const [first] = lists.toSorted(([, a], [, b]) => rowsIn(b).length - rowsIn(a).length);
  return first === undefined ? undefined : { name: first[0], rows: rowsIn(first[1]) };
}

/**
 * The key of the tax system's report in the answer to a stock movement: the object that holds `stockIo` or
 * `stockMaster`.
 */
export function findReportName(data: unknown): string | undefined {
  return Object.entries(fieldsOf(data)).find(([, inner]) => {
    const report = fieldsOf(inner);
    return "stockIo" in report || "stockMaster" in report;
  })?.[0];
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function rowsIn(value: unknown): Fields[] {
  if (!Array.isArray(value)) return [];
  return value.filter((row: unknown) => typeof row === "object" && row !== null && !Array.isArray(row)).map(fieldsOf);
}

function keyHolding(rows: readonly Fields[], value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return rows.flatMap((row) => Object.entries(row)).find(([, inner]) => inner === value)?.[0];
}

/** The most id-like of the keys that tell the rows apart. */
function idKeyOf(rows: readonly Fields[], others: readonly string[]): string | undefined {
  const rank = (key: string): number => {
    if (/^_?id$/i.test(key)) return 0;
    if (/(^|_)(uuid|guid)$/i.test(key)) return 1;
    if (/(_id|Id|ID|id)$/.test(key)) return 2;
    return 9;
  };
  return distinctTextKeys(rows)
    .filter((key) => !others.includes(key) && rank(key) < 9)
    .toSorted((a, b) => rank(a) - rank(b))[0];
}

function distinctTextKeys(rows: readonly Fields[]): string[] {
  return Object.keys(rows[0] ?? {}).filter((key) => {
    const values = rows.map((row) => row[key]);
    return values.every((value) => typeof value === "string" && value !== "") && new Set(values).size === values.length;
  });
}

/** The key of a list of objects in the business's record. */
function branchesKeyOf(rows: readonly Fields[]): string | undefined {
  const keys = rows.flatMap((row) => Object.keys(row).filter((key) => rowsIn(row[key]).length > 0));
  return keys.find((key) => /branch/i.test(key)) ?? keys[0];
}

/** The authority numbers branch offices by two digits, from `00` on; "bhf" is its abbreviation for them. */
function authorityKeyOf(rows: readonly Fields[]): string | undefined {
  const keys = Object.keys(rows[0] ?? {});
  const isOffice = (key: string): boolean => rows.every((row) => /^\d{2}$/.test(String(row[key])));
  return keys.find((key) => /bhf/i.test(key)) ?? keys.find(isOffice);
}

function branchOf(row: Fields, idKey: string | undefined, authorityKey: string | undefined): SeenBranch {
  return { ...textAt("id", row, idKey), ...textAt("authorityId", row, authorityKey) };
}

function textAt<Name extends string>(name: Name, row: Fields, key: string | undefined): { [N in Name]?: string } {
  const value = key === undefined ? undefined : row[key];
  return (typeof value === "string" && value !== "" ? { [name]: value } : {}) as { [N in Name]?: string };
}
