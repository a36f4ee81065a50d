// Functions as they are written in the gateway file, checked. Of a function what is left out stays as it
// is stored; a revision has its defaults filled in, and its content is stored as it is here.

export interface ContentPart {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Templates stand in a text content and in the `text` of parts, nowhere else. */
export interface MessageTemplate {
  readonly role: 'system' | 'developer' | 'user' | 'assistant';
  readonly content: string | readonly ContentPart[];
  readonly name?: string | undefined;
}

export type JsonSchemaDocument = Readonly<Record<string, unknown>>;

export type ResponseFormat =
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

/** One call of a model: what a prompt is, and what each step of a workflow is. */
export interface ModelCall {
  readonly model: string;
  readonly fallback_models: readonly string[];
  readonly messages: readonly MessageTemplate[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly response_format?: ResponseFormat | undefined;
}

export interface ObjectInput {
  readonly type: 'object';
  readonly schema: JsonSchemaDocument;
}

export type InputDeclaration = { readonly type: 'text' } | ObjectInput;

/** What a good answer looks like. All that is written must hold. */
export interface Expectation {
  readonly schema?: JsonSchemaDocument | undefined;
  readonly equals?: unknown;
  readonly contains?: string | undefined;
}

export interface TestCase {
  readonly input: string | Readonly<Record<string, unknown>>;
  readonly expect: Expectation;
}

export interface RevisionLife {
  /** ISO instant. */
  readonly expires_at: string | null;
  /** A number of minutes, hours, days or weeks: `30d`. */
  readonly valid_for: string | null;
  readonly cases: readonly TestCase[];
}

export interface PromptContent extends RevisionLife, ModelCall {
  readonly input: InputDeclaration;
}

export interface WorkflowStep extends ModelCall {
  readonly id: string;
}

export interface WorkflowContent extends RevisionLife {
  readonly input: ObjectInput;
  readonly steps: readonly WorkflowStep[];
  /** A template, or the step whose output it is. */
  readonly output: string | { readonly step: string };
}

/** All of a revision that never changes once it is activated. */
export type RevisionContent = PromptRevision | WorkflowRevision;
export type PromptRevision = { readonly kind: 'prompt' } & PromptContent;
export type WorkflowRevision = { readonly kind: 'workflow' } & WorkflowContent;

export type RevisionState = 'draft' | 'activated';
export type FunctionStatus = 'enabled' | 'disabled';

export interface RevisionHead {
  readonly id: string;
  /** Left out: as stored, a new one is a draft. */
  readonly state?: RevisionState | undefined;
}

interface FunctionHead {
  readonly id: string;
  /** Left out: as stored, a new one is enabled. */
  readonly status?: FunctionStatus | undefined;
  /** The revision that an unpinned call runs; null: none. Left out: as stored, a new one has none. */
  readonly active?: string | null | undefined;
}

export type PromptFunction = FunctionHead & {
  readonly kind: 'prompt';
  readonly revisions: readonly (RevisionHead & PromptContent)[];
};
export type WorkflowFunction = FunctionHead & {
  readonly kind: 'workflow';
  readonly revisions: readonly (RevisionHead & WorkflowContent)[];
};
export type FunctionDocument = PromptFunction | WorkflowFunction;
