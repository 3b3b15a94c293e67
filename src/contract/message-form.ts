/**
 * The form of a message, for where zod is not at hand: in the sandbox of the workflows. It is as much of JSON Schema as
 * the messages need. What `schema/updates.ts` declares with anything else does not compile, so that no rule is left out.
 */

export interface FieldForm {
  /** What is within an object is checked by an activity. */
  readonly type: "string" | "number" | "boolean" | "object";
  readonly description?: string;
  readonly const?: true;
  readonly enum?: readonly string[];
  readonly format?: "date";
  readonly pattern?: string;
  /** In code points, as JSON Schema has it. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface MessageForm {
  readonly properties: Readonly<Record<string, FieldForm>>;
  readonly required?: readonly string[];
  /** Exactly one of these fields is there. */
  readonly oneOf?: readonly { readonly required: readonly [string] }[];
  /** A field that is there only while others have these values, or are not there. */
  readonly dependentSchemas?: Readonly<Record<string, { required?: readonly string[]; properties: Only }>>;
}

type Only = Readonly<Record<string, { readonly const: true } | false>>;

export interface UpdateForm extends MessageForm {
  /** What it is for, in a sentence. */
  readonly purpose: string;
  /** Those that it can carry to an attention, with `{code}` and `{subject}` for what that says. */
  readonly answers?: readonly Answer[];
}

/** In which case to send it (`if the movement was applied`), and the JSON. */
export type Answer = readonly [when: string, input: Readonly<Record<string, string | boolean>>];
