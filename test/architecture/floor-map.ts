// The floors of the source tree, from the ground up: a file imports from strictly lower floors or from its own folder.
// The longest matching path is a file's folder.

export interface Floor {
  readonly folder: string;
  readonly floor: number;
  /** The advice that is printed with an import that breaks the rule. */
  readonly advice: string;
}

const ground = 'The ground floor imports nothing above it: move what needs more to a folder above.';
const rules = 'A rule or a store: take what you need as a parameter, or move the code up.';
const stage =
  'A stage imports shared folders, stages.ts, provider-call.ts and the exit; what two stages share is a type there or a rule below.';
const clientInterface = 'What the interface of a client is: no stage, no store, no other interface.';
const gateway = 'functions/gateway';
const operator = 'functions/operator';
/** In this folder a page has the powers that the browser gives it. */
const inBrowser = `${operator}/page/`;

/**
 * The floors from the ground up: the groups of `shared` in their order, then the functions, then infra. Folders on one
 * floor do not import each other.
 */
const floors: readonly Readonly<Record<string, string>>[] = [
  {
    'shared/foundation/constants': ground,
    'shared/foundation/content-encoding': ground,
    'shared/foundation/heap': ground,
    'shared/foundation/ids': ground,
    'shared/foundation/lines': 'Runs in browsers too: knows texts and nothing of the gateway.',
    'shared/foundation/money': ground,
    'shared/foundation/patterns': ground,
    'shared/foundation/time': ground,
    'infra/run-script.ts': 'How a script ends; imports nothing.',
    'package.json': 'Name and version of the project.',
  },
  {
    'shared/foundation/environment': ground,
    'shared/foundation/log': ground,
    'shared/foundation/cache': ground,
    'shared/foundation/parallel': ground,
    'infra/cdk': 'Stacks import only the constants and point at bundles by path.',
  },
  { 'shared/foundation/outgoing': 'Connections and bytes: knows no service and no provider.' },
  {
    'shared/foundation/telemetry': 'Spans as plain values, and how they are sent: knows no request and no provider.',
  },
  { 'shared/errors': 'One table of codes, and the envelope made from it.' },
  { 'shared/storage/store': rules },
  {
    'shared/storage/sqlite-store': 'The port to the store on a file: knows no caller.',
    'shared/storage/aws-clients': 'Settings and attempts of AWS clients: knows no operation of any service.',
  },
  { 'shared/storage/dynamodb-store': 'The port to the store on DynamoDB: knows no caller.' },
  { 'shared/storage/blobs': 'Bytes under opaque names: knows no table and no caller.' },
  {
    'shared/protocol/conversation': 'Runs in browsers too: knows texts and nothing of the gateway.',
    'shared/protocol/event-folds': 'Runs in browsers too: knows values and nothing of the gateway.',
    'shared/protocol/description': 'Words of schemas and operations: describes nothing itself.',
  },
  {
    'shared/protocol/server-sent-events': 'Runs in browsers too: knows bytes and nothing of the gateway.',
    'shared/protocol/playground': 'Runs in browsers too: a draft and its code, independent of interfaces.',
  },
  {
    'shared/protocol/json-schema': rules,
    'shared/protocol/memory-budget': 'What a process keeps: knows no request and no answer.',
    'shared/protocol/wire': 'Wire shapes know no store and no provider.',
  },
  {
    'shared/protocol/event-frames': "AWS's frames of events: knows no interface.",
    'shared/protocol/forms': 'Forms and their files: knows no interface.',
    'shared/protocol/hub': 'A call and its answer between two formats: knows no interface and no provider.',
  },
  { 'shared/protocol/interfaces': 'What every interface of a client says of itself: knows none of them.' },
  {
    'shared/protocol/interfaces/chat-completions': clientInterface,
    'shared/protocol/interfaces/converse': clientInterface,
    'shared/protocol/interfaces/responses': clientInterface,
    'shared/protocol/interfaces/embeddings': clientInterface,
    'shared/protocol/interfaces/images': clientInterface,
    'shared/protocol/interfaces/messages': clientInterface,
    'shared/protocol/interfaces/moderations': clientInterface,
    'shared/protocol/interfaces/rerank': clientInterface,
    'shared/protocol/interfaces/speech': clientInterface,
    'shared/protocol/interfaces/transcriptions': clientInterface,
  },
  {
    'shared/protocol/interfaces/generate-content':
      'As every interface; its vectors are those of embeddings, in the words of Google.',
  },
  { 'shared/protocol/http': 'Adapters know the exchange, never the business behind it.' },
  { 'shared/protocol/router': 'The router knows routes and errors, not what is behind them.' },
  {
    'shared/protocol/interface-list': 'Which interfaces there are, and where they are asked: no rules of its own.',
    'shared/protocol/interface-pages': 'Runs in browsers too: the files of interfaces that know texts alone.',
  },
  {
    'shared/accounting/holds': rules,
    'shared/accounting/idempotency': rules,
    'shared/accounting/provider-affinity': rules,
    'shared/accounting/provider-health': rules,
    'shared/accounting/response-cache': rules,
    'shared/accounting/call-records': rules,
  },
  {
    'shared/configuration/settings': 'Rows alone: a page in a browser and every function read them.',
  },
  {
    'shared/configuration/value-forms': 'Forms of single values that operators write: knows no key and no workspace.',
    'shared/configuration/model-list': 'Kinds of providers and the shipped list: knows no catalogue and no file.',
    'shared/accounting/credit': rules,
    'shared/accounting/limits': rules,
    'shared/accounting/slots': rules,
    'shared/accounting/content-log': rules,
    'shared/accounting/reports':
      'Reads what was counted, for operators: workspaces and configured providers come in as values.',
  },
  { 'shared/configuration/access': rules, 'shared/accounting/alerts': rules },
  { 'shared/configuration/catalogue': rules, 'shared/configuration/keys': rules },
  {
    'shared/configuration/stored-functions': 'Everything about functions that needs no provider.',
    'shared/configuration/workspaces': rules,
  },
  {
    'shared/configuration/byok': rules,
    'shared/configuration/administration': 'What operators change: asks and prints nothing, and knows no file.',
    'shared/configuration/management':
      'The table of management routes and its shapes alone: the page in the browser takes its types from here.',
  },
  { 'shared/configuration/store-key': rules },
  { 'shared/configuration/gateway-file': 'Operator side: of the functions, for the one of operators alone.' },
  {
    'shared/routing/billing': rules,
    'shared/routing/providers': 'Transport and classification know no plan and no caller.',
  },
  { 'shared/routing/formats/target-rules': 'What targets want of a conversation: knows no package and no call.' },
  { 'shared/routing/formats/hub': 'Loaded on demand: knows the provider packages, and no plan.' },
  {
    'shared/routing/formats':
      'How a candidate is called, through a given `send`: no transport, no credential, no plan.',
  },
  {
    'shared/routing/guardrails': 'Loaded on demand: finds and checks texts, through a given transport; knows no plan.',
  },
  { 'shared/routing/planner': 'The planner is pure: facts come in as values.' },
  {
    'shared/routing/model-listing': rules,
    'shared/routing/provider-metrics': 'Learns of ended attempts; decides nothing about a call.',
  },
  { 'shared/composition': 'Puts real dependencies together; no rules of its own.' },
  { [`${gateway}/provider-call.ts`]: 'Types only.' },
  { [`${gateway}/stages.ts`]: 'Types only.', [`${gateway}/dependencies.ts`]: 'Types only.' },
  { [`${gateway}/exit`]: 'The one exit of answers: asks the guardrails of a call, and knows no stage.' },
  {
    [`${gateway}/admission`]: stage,
    [`${gateway}/provider`]: stage,
    [`${gateway}/receive`]: stage,
    [`${gateway}/response`]: stage,
    [`${gateway}/routing`]: stage,
    [`${gateway}/settlement`]: stage,
  },
  {
    [`${gateway}/account`]: 'What a key may see of itself; calls no provider.',
    [`${gateway}/stored-response`]: 'Asks the provider that keeps a response; runs no model.',
    [`${gateway}/stored-function`]: 'Runs provider calls of a function through the loop of plain calls.',
  },
  { [`${operator}/sign-in`]: 'What a token proves; knows no role and no store.' },
  { [`${operator}/dependencies.ts`]: 'Types only.' },
  { [`${operator}/request`]: 'Who asks, and in which form; nothing of what is read or changed.' },
  {
    [`${gateway}/serve.ts`]: 'The sequence of stages; no rules of its own.',
  },
  { [`${operator}/page`]: 'Runs in a browser: knows the management interface, and nothing of what is behind it.' },
  {
    [`${operator}/console`]: 'Files of the page: knows no store and no key.',
  },
  {
    [`${operator}/accounts`]: 'What operators read and change of keys and credit.',
    [`${operator}/catalogue`]: 'What operators read of models and providers.',
    [`${operator}/functions`]: 'What operators read and change of stored functions.',
    [`${operator}/configuration`]: 'The whole configuration as one document: what is read and replaced.',
    [`${operator}/reports`]: 'What operators read of calls.',
  },
  { [`${operator}/works.ts`]: 'What each route does, by its name.' },
  { [`${operator}/perform.ts`]: 'A request without HTTP; no rules of its own.' },
  {
    [`${gateway}/routes.ts`]: 'Routes only.',
    'functions/models/routes.ts': 'Routes only.',
    [`${operator}/routes.ts`]: 'Routes only.',
  },
  {
    [`${gateway}/handler.ts`]: 'Entry point: dependencies once, then the adapter.',
    'functions/models/handler.ts': 'Entry point: dependencies once, then the adapter.',
    [`${operator}/handler.ts`]: 'Entry point: dependencies once, then the adapter.',
  },
  { 'infra/build/notices.ts': 'Reads licences of packages by path.' },
  { 'infra/metrics': 'What a process counted, for scrapers: knows log lines and gauges, and no stage of a call.' },
  { 'infra/container': 'The process of a task: every route of the functions, and no rules of its own.' },
  {
    'infra/openapi/description': 'Describes what is checked and answered; a gateway serves what the build makes of it.',
  },
  { 'infra/build/page.ts': 'Builds the page of the console by path.' },
  { 'infra/local': 'The local run may use everything below.' },
  { 'infra/dynamodb-engine': 'Development alone: tests and measurements start it.' },
  {
    'infra/cli': 'The command line may use everything below.',
    'infra/openapi': 'Prints the description; may use everything below.',
    'infra/model-list': 'Makes the shipped model list from lists that others keep.',
  },
  { 'infra/build': 'Bundles by path, and loads each of them once.' },
  { 'infra/bench': 'Measures; may use everything below.', 'infra/verify': 'Proofs for AWS; may use everything below.' },
];

export const floorMap: readonly Floor[] = floors.flatMap((folders, floor) =>
  Object.entries(folders).map(([folder, advice]) => ({ folder, floor, advice })),
);

/** A power, and the path prefixes of the files that may use it. */
export interface PowerHome {
  readonly power: string;
  readonly sign: RegExp;
  readonly homes: readonly string[];
}

export const powerHomes: readonly PowerHome[] = [
  {
    // Bytes of memory for each byte of a body or an answer, and the decision whether an answer waits for them.
    power: 'memory by weight',
    sign: /\bmayWait\b|\b(answer|request)Weights\b|\bcopies\w* \* /i,
    homes: ['shared/protocol/memory-budget/', 'infra/bench/sections/weights.ts'],
  },
  {
    power: 'the clock and timers',
    // A second clock would show another time, or run at another speed.
    sign: /\bDate\.now\b|\bset(Timeout|Interval|Immediate)\(|\bnowMs: (\(\) => (?!number)|\w+\.nowMs,)|\bafter: \(/,
    homes: [
      'shared/foundation/time/',
      // This bench has its own clock, so that a minute of measured calls takes seconds.
      'infra/bench/test-bed/inspect-process.ts',
      inBrowser,
    ],
  },
  { power: 'randomness', sign: /\bMath\.random\(|\brandom(UUID|Bytes)\(/, homes: ['shared/foundation/ids/'] },
  { power: 'process.env', sign: /\bprocess\.env\b/, homes: ['shared/foundation/environment/', 'infra/'] },
  {
    power: 'files',
    sign: /from 'node:fs/,
    homes: [
      'shared/storage/blobs/',
      'shared/storage/sqlite-store/',
      'shared/configuration/byok/',
      `${gateway}/handler.ts`,
      `${operator}/console/`,
      'infra/',
    ],
  },
  {
    power: 'the AWS SDK',
    sign: /from '@aws-sdk\//,
    homes: [
      'shared/storage/',
      'shared/configuration/byok/kms-calls.ts',
      'shared/routing/guardrails/bedrock-guardrail.ts',
      'shared/routing/providers/provider-secret.ts',
      'infra/',
    ],
  },
  {
    power: 'the signer and the core of the AWS SDK',
    sign: /from '@smithy\//,
    homes: [
      'shared/storage/aws-clients/',
      'shared/protocol/event-frames/',
      'infra/build/',
      'infra/local/simulator/formats/bedrock-converse.ts',
    ],
  },
  {
    power: 'outgoing calls',
    sign: /\bfetch\(|\bimport \{[^}]*\brequest\b[^}]*\} from 'node:https?'|https?\.request\(/,
    homes: [
      'shared/foundation/outgoing/',
      'infra/bench/',
      'infra/verify/',
      'infra/cdk/deploy.ts',
      // The demo calls this process itself.
      'infra/local/demo/demo-traffic.ts',
      inBrowser,
    ],
  },
  {
    power: 'threads',
    sign: /'node:worker_threads'|getBuiltinModule/,
    homes: ['shared/protocol/json-schema/', 'shared/storage/sqlite-store/'],
  },
  { power: 'patterns of operators', sign: /from 're2js'/, homes: ['shared/foundation/patterns/'] },
  { power: 'bounded caches', sign: /from 'lru-cache'/, homes: ['shared/foundation/cache/'] },
  {
    power: 'YAML',
    sign: /(from|import\() ?'yaml'/,
    homes: ['shared/configuration/gateway-file/', 'infra/'],
  },
  {
    // The package `@ai-sdk/provider` has the types of all provider packages, and no code that is used here.
    power: 'the provider packages of the AI SDK',
    sign: /(from|import\() ?'@ai-sdk\/(?!provider')/,
    homes: ['shared/routing/formats/hub/'],
  },
  { power: 'tokens of identity providers', sign: /from 'jose'/, homes: [`${operator}/sign-in/`] },
  {
    power: "Google's library",
    sign: /(from|import\() ?'google-auth-library/,
    homes: ['shared/routing/providers/google-tokens.ts'],
  },
  { power: 'commander', sign: /(from|import\() ?'commander'/, homes: ['infra/cli/'] },
  { power: 'the Prometheus client', sign: /(from|import\() ?'prom-client/, homes: ['infra/metrics/'] },
  { power: 'the CDK library', sign: /(from|import\() ?'(aws-cdk-lib|constructs)/, homes: ['infra/'] },
  { power: 'the price list', sign: /(from|import\() ?'@pydantic\//, homes: ['infra/model-list/'] },
  { power: 'middy', sign: /from '@middy\//, homes: ['shared/protocol/http/'] },
  {
    power: 'zod',
    sign: /from 'zod/,
    homes: [
      'shared/protocol/wire/',
      'shared/protocol/interfaces/',
      'shared/foundation/environment/',
      'shared/configuration/value-forms/',
      'shared/configuration/keys/key-schema.ts',
      'shared/configuration/workspaces/workspace-schema.ts',
      'shared/configuration/administration/',
      'shared/configuration/management/',
      'shared/configuration/gateway-file/',
      `${operator}/`,
      'infra/cdk/',
    ],
  },
  {
    // On the command line, text that others wrote goes through `onlyText`.
    power: 'standard output',
    sign: /\bprocess\.std(out|err)\b|\{[^}]*\bstd(out|err)\b[^}]*\} = process\b|\bconsole\.\w+\(/,
    homes: [
      'shared/foundation/log/',
      'infra/run-script.ts',
      'infra/cli/main.ts',
      'infra/container/main.ts',
      // The playground prints code, which runs elsewhere.
      'shared/protocol/playground/',
      ...['local', 'cdk', 'bench', 'build', 'verify', 'model-list', 'openapi'].map((room) => `infra/${room}/`),
    ],
  },
  {
    power: 'what differs by base URL',
    sign: /[!=]== '\/(openai\/)?v1'/,
    homes: ['shared/protocol/router/base-url-rules.ts'],
  },
  { power: 'statuses of answers', sign: /\bstatus(Code)?: [1-5]\d\d\b/, homes: ['shared/errors/', 'infra/'] },
];
