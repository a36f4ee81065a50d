// Finds schemas that cannot be used, and options that no provider call can have. They are checked when a revision is
// saved, so that no call of a client meets them.
import { GatewayError } from '../../errors/index.ts';
import { readChatRequest } from '../../protocol/interfaces/chat-completions/index.ts';
import { checkResponseSchema } from '../../protocol/json-schema/index.ts';
import { memberFault } from '../../protocol/wire/index.ts';
import type { FunctionDocument, ModelCall, RevisionContent } from './function-document.ts';
import { toRequest } from './request.ts';
import { contentOf } from './revision-content.ts';

interface ContentFault {
  /** Path below the function. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Thrown for revisions that no call could use, with all faults of the revisions. */
export class UnusableRevisions extends Error {
  override readonly name = 'UnusableRevisions';
  readonly faults: readonly ContentFault[];
  constructor(functionName: string, faults: readonly ContentFault[]) {
    super(`${functionName}: ${faults.map(({ path, message }) => `${textOf(path)}: ${message}`).join('; ')}`);
    this.faults = faults;
  }
}

const textOf = ([first, ...below]: ContentFault['path']): string =>
  `${first}${below.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}`;

/** Checks revisions. Throws UnusableRevisions. */
export async function checkRevisions(workspace: string, { id, kind, revisions }: FunctionDocument): Promise<void> {
  const faults: ContentFault[] = [];
  for (const [index, revision] of revisions.entries()) {
    const revisionFaults = await faultsOf(contentOf(kind, revision));
    faults.push(...revisionFaults.map(({ path, message }) => ({ path: ['revisions', index, ...path], message })));
  }
  if (faults.length > 0) throw new UnusableRevisions(`function ${id} of ${workspace}`, faults);
}

async function faultsOf(content: RevisionContent): Promise<ContentFault[]> {
  const { input } = content;
  const calls = content.kind === 'prompt' ? [{ path: [], call: content }] : content.steps.map(toStepPlace);
  const faults = [
    input.type === 'object' ? schemaFaults(['input', 'schema'], input.schema) : [],
    ...calls.map(({ path, call }) => callFaults(path, call)),
    ...content.cases.map(({ expect: { schema } }, index) =>
      schema === undefined ? [] : schemaFaults(['cases', index, 'expect', 'schema'], schema),
    ),
  ];
  return (await Promise.all(faults)).flat();
}

const toStepPlace = (call: ModelCall, index: number) => ({ path: ['steps', index], call });

async function callFaults(path: ContentFault['path'], call: ModelCall): Promise<ContentFault[]> {
  const options = readChatRequest(toRequest({ ...call, response_format: undefined }, call.messages, {}).body);
  const format = readChatRequest(toRequest({ ...call, options: {} }, call.messages, {}).body);
  return [
    ...(options instanceof GatewayError ? [faultBelow([...path, 'options'], options)] : []),
    ...(await formatFaults([...path, 'response_format'], format)),
  ];
}

function faultBelow(place: ContentFault['path'], error: GatewayError): ContentFault {
  const { path, message } = memberFault(error);
  return { path: [...place, ...path], message };
}

async function formatFaults(
  path: ContentFault['path'],
  read: ReturnType<typeof readChatRequest>,
): Promise<ContentFault[]> {
  if (read instanceof GatewayError) return [{ path, message: read.message }];
  return read.responseSchema === undefined ? [] : schemaFaults(path, read.responseSchema);
}

async function schemaFaults(path: ContentFault['path'], schema: unknown): Promise<ContentFault[]> {
  const fault = await checkResponseSchema(schema);
  return fault === undefined ? [] : [{ path, message: fault.message }];
}
