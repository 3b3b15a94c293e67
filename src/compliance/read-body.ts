export { bodyOf, type ReadBody } from "../http/read-body.ts";
