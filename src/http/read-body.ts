import type { z } from "zod";
import type { HttpAnswer } from "./http-answer.ts";
import type { OddRow } from "./read-rows.ts";

/** Turns a success's body into data, or says what is wrong with it. */
export type ReadBody<Data> = (
  answer: Pick<HttpAnswer, "bodyText" | "bodyLength" | "headers" | "json">,
) => { data: Data; odd?: readonly OddRow[] } | { issues: string[] };

const MOST_ISSUES = 5;

/** Reads a body that a schema describes. */
export function bodyOf<Body, Data>(schema: z.ZodType<Body>, pick: (body: Body) => Data): ReadBody<Data> {
  return ({ json }) => {
    if (json === undefined) return { issues: ["the body is not JSON"] };
    const parsed = schema.safeParse(json);
    return parsed.success ? { data: pick(parsed.data) } : { issues: shortIssues(parsed.error) };
  };
}

export function shortIssues(error: z.ZodError): string[] {
  const issues = error.issues.map((issue) => `${issue.path.map(String).join(".") || "body"}: ${issue.message}`);
  const more = issues.length - MOST_ISSUES;
  return more > 0 ? [...issues.slice(0, MOST_ISSUES), `and ${more} more`] : issues;
}
