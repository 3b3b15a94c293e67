export { bodyOf, type ReadBody } from "../http/read-body.ts";
export { rowsOf } from "../http/read-rows.ts";
