// Defines the functions of the gateway file, checked. Absent fields of a function keep their stored values; a revision
// has its defaults filled in, and its content is stored in this form.

interface ContentPart {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A message with templates, which occur in a text content and in the `text` of parts, nowhere else. */
export interface MessageTemplate {
  readonly role: 'system' | 'developer' | 'user' | 'assistant';
  readonly content: string | readonly ContentPart[];
  readonly name?: string | undefined;
}

type JsonSchemaDocument = Readonly<Record<string, unknown>>;

type ResponseFormat =
  | { readonly type: 'text' | 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly json_schema: {
        readonly name: string;
        readonly description?: string | undefined;
        readonly strict?: boolean | undefined;
        readonly schema: JsonSchemaDocument;
      };
    };

/** One call of a model, for a prompt, or for a step of a workflow. */
export interface ModelCall {
  readonly model: string;
  readonly fallback_models: readonly string[];
  readonly messages: readonly MessageTemplate[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly response_format?: ResponseFormat | undefined;
}

interface ObjectInput {
  readonly type: 'object';
  readonly schema: JsonSchemaDocument;
}

type InputDeclaration = { readonly type: 'text' } | ObjectInput;

/** Expectations of an answer, all of which must be met. */
export interface Expectation {
  readonly schema?: JsonSchemaDocument | undefined;
  readonly equals?: unknown;
  readonly contains?: string | undefined;
}

export interface TestCase {
  readonly input: string | Readonly<Record<string, unknown>>;
  readonly expect: Expectation;
}

interface RevisionLife {
  /** Expiry as an ISO instant. */
  readonly expires_at: string | null;
  /** Number of minutes, hours, days or weeks: `30d`. */
  readonly valid_for: string | null;
  readonly cases: readonly TestCase[];
}

export interface PromptContent extends RevisionLife, ModelCall {
  readonly input: InputDeclaration;
}

export interface WorkflowStep extends ModelCall {
  readonly id: string;
}

interface WorkflowContent extends RevisionLife {
  readonly input: ObjectInput;
  readonly steps: readonly WorkflowStep[];
  /** A template, or the step whose output is the result. */
  readonly output: string | { readonly step: string };
}

/** The parts of a revision that never change once it is activated. */
export type RevisionContent = PromptRevision | WorkflowRevision;
export type PromptRevision = { readonly kind: 'prompt' } & PromptContent;
export type WorkflowRevision = { readonly kind: 'workflow' } & WorkflowContent;

export type RevisionState = 'draft' | 'activated';
export type FunctionStatus = 'enabled' | 'disabled';

interface RevisionHead {
  readonly id: string;
  /** State. Absent: as stored; a new revision is a draft. */
  readonly state?: RevisionState | undefined;
}

interface FunctionHead {
  readonly id: string;
  /** Status. Absent: as stored; a new function is enabled. */
  readonly status?: FunctionStatus | undefined;
  /** The revision that an unpinned call runs; null: none. Absent: as stored; a new function has none. */
  readonly active?: string | null | undefined;
}

type PromptFunction = FunctionHead & {
  readonly kind: 'prompt';
  readonly revisions: readonly (RevisionHead & PromptContent)[];
};
export type WorkflowFunction = FunctionHead & {
  readonly kind: 'workflow';
  readonly revisions: readonly (RevisionHead & WorkflowContent)[];
};
export type FunctionDocument = PromptFunction | WorkflowFunction;
