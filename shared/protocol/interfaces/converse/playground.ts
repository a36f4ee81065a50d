import {
  type Draft,
  definedFields,
  keyVariable,
  type PlaygroundInterface,
  type PlaygroundTurn,
  pythonLines,
} from '../../playground/index.ts';
import { openConverseFold } from './stream-fold.ts';

type Body = Readonly<Record<string, unknown>>;

/** Returns the path of a call. boto3 expects the model as a field, and sends it in the path. */
const pathOf = ({ modelId }: Body): string => `/bedrock/model/${encodeURIComponent(String(modelId))}/converse`;

/**
 * Fields of Converse's request (ConverseRequest of AWS's SDK 3.1162.0). boto3 refuses every other field, including the
 * gateway's own fields.
 */
const botoFields: ReadonlySet<string> = new Set([
  'modelId',
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'guardrailConfig',
  'additionalModelRequestFields',
  'additionalModelResponseFieldPaths',
  'promptVariables',
  'requestMetadata',
  'performanceConfig',
  'serviceTier',
  'outputConfig',
]);

/** Writes the call for boto3, which sends a token only over TLS. */
const python = (origin: string, body: Body): string =>
  [
    'import os',
    'import boto3',
    '',
    `os.environ["AWS_BEARER_TOKEN_BEDROCK"] = os.environ["${keyVariable}"]`,
    `client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url="${origin}/bedrock")`,
    'answer = client.converse(',
    ...pythonLines(Object.fromEntries(Object.entries(body).filter(([name]) => botoFields.has(name))), [...botoFields]),
    ')',
    'for block in answer["output"]["message"]["content"]:',
    '    print(block)',
  ].join('\n');

export const playground: PlaygroundInterface = {
  title: 'Converse',
  path: '/converse',
  // A stream consists of frames, which a page in a browser does not read.
  hasStreams: false,
  hasTurns: true,
  body: ({ model, system, turns, temperature, outputTokensMax, tools, more }: Draft) => ({
    ...definedFields({
      modelId: model,
      system: system === '' ? undefined : [{ text: system }],
      messages: turns.map(messageOf),
      inferenceConfig: orNothing(definedFields({ temperature, maxTokens: outputTokensMax })),
      toolConfig: tools.length === 0 ? undefined : { tools: tools.map(toolOf) },
    }),
    ...more,
  }),
  callOf(body) {
    const { modelId: _inPath, ...sentBody } = body;
    return { path: pathOf(body), body: sentBody };
  },
  readAnswer: ({ output }) => {
    const content = (output?.message?.content ?? []) as readonly ConverseBlock[];
    return { text: content.map(({ text = '' }) => text).join(''), calls: content.flatMap(callIn) };
  },
  // The input is shown as it was written, complete or not.
  openFold: () => openConverseFold((text) => text),
  python,
};

const orNothing = (fields: Body): Body | undefined => (Object.keys(fields).length === 0 ? undefined : fields);

const toolOf = ({ parameters, ...tool }: Draft['tools'][number]) => ({
  toolSpec: { ...tool, inputSchema: { json: parameters } },
});

interface ConverseBlock {
  readonly text?: string;
  readonly toolUse?: { readonly toolUseId?: string; readonly name?: string; readonly input?: unknown };
}

const callIn = ({ toolUse }: ConverseBlock) =>
  toolUse === undefined
    ? []
    : [{ id: toolUse.toolUseId ?? '', name: toolUse.name ?? '', arguments: JSON.stringify(toolUse.input ?? {}) }];

function messageOf(turn: PlaygroundTurn): object {
  if (turn.role === 'tool') {
    const content = turn.results.map(({ id, text }) => ({ toolResult: { toolUseId: id, content: [{ text }] } }));
    return { role: 'user', content };
  }
  if (turn.role === 'user') return { role: 'user', content: [...turn.images.map(imageOf), { text: turn.text }] };
  const calls = turn.calls.map(({ id, name, arguments: written }) => ({
    toolUse: { toolUseId: id, name, input: JSON.parse(written || '{}') as unknown },
  }));
  return { role: 'assistant', content: [...(turn.text === '' ? [] : [{ text: turn.text }]), ...calls] };
}

function imageOf(dataUrl: string): object {
  const [, format = '', bytes = ''] = /^data:image\/([^;,]*);base64,(.*)$/s.exec(dataUrl) ?? [];
  return { image: { format, source: { bytes } } };
}
