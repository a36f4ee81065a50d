// Minimal revisions and functions.
import { expect } from '#jest';
import type {
  FunctionDocument,
  MessageTemplate,
  PromptRevision,
  WorkflowFunction,
  WorkflowRevision,
  WorkflowStep,
} from '../../shared/configuration/stored-functions/index.ts';
import type { ErrorCode } from '../../shared/errors/index.ts';

const life = { expires_at: null, valid_for: null, cases: [] };

export const message = (role: MessageTemplate['role'], content: MessageTemplate['content']): MessageTemplate => ({
  role,
  content,
});

export const promptOf = (more: Partial<PromptRevision> = {}): PromptRevision => ({
  kind: 'prompt',
  ...life,
  model: 'acme/large-1',
  fallback_models: [],
  messages: [message('user', '{{input}}')],
  options: {},
  input: { type: 'text' },
  ...more,
});

export const stepOf = (id: string, content: string, more: Partial<WorkflowStep> = {}): WorkflowStep => ({
  id,
  model: 'acme/large-1',
  fallback_models: [],
  messages: [message('user', content)],
  options: {},
  ...more,
});

export const workflowOf = (
  steps: readonly WorkflowStep[],
  output: WorkflowRevision['output'],
  more: Partial<WorkflowRevision> = {},
): WorkflowRevision => ({ kind: 'workflow', ...life, input: { type: 'object', schema: {} }, steps, output, ...more });

type DeclaredPrompt = Extract<FunctionDocument, { kind: 'prompt' }>['revisions'][number];

/** Returns a revision as the gateway file declares it. */
export function declared(id: string, more: Partial<DeclaredPrompt> = {}): DeclaredPrompt {
  const { kind: _kind, ...content } = promptOf();
  return { id, state: 'draft', ...content, ...more };
}

export const functionOf = (
  revisions: readonly DeclaredPrompt[],
  more: Partial<Pick<FunctionDocument, 'id' | 'status' | 'active'>> = {},
): FunctionDocument => ({ id: 'f', kind: 'prompt', status: 'enabled', active: null, revisions, ...more });

export const emptyWorkflow: WorkflowFunction = {
  id: 'f',
  kind: 'workflow',
  status: 'enabled',
  active: null,
  revisions: [],
};

/** Returns the message of a call that must fail with this code. */
export async function refusalOf(code: ErrorCode, call: () => unknown): Promise<string> {
  const error = await Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (error: unknown) => error as Error & { code?: string },
    );
  expect({ code: error?.code, message: error?.message }).toMatchObject({ code });
  return error?.message ?? '';
}
