// The floors of the house, from the ground up: a file imports from strictly lower floors or from its own room. The
// longest matching path is a file's room.

export interface Floor {
  readonly room: string;
  readonly floor: number;
  /** What to do when the test sends you here. */
  readonly advice: string;
}

const ground = 'The ground floor knows nobody: move what needs more to a room above.';
const rules = 'A rule or a store: take what you need as a parameter, or move the code up.';
const stage = 'A stage imports shared rooms and stages.ts; what two stages share is a type there or a rule below.';
const facts = 'Facts and counting that several stages share; no decision about a call.';
const chat = 'functions/chat-completions';

/** From the ground up. Rooms on one floor do not know each other. */
const floors: readonly Readonly<Record<string, string>>[] = [
  { 'shared/names': ground, 'shared/ids': ground, 'shared/money': ground, 'shared/time': ground },
  {
    'shared/config': ground,
    'shared/errors': ground,
    'shared/log': ground,
    'shared/outgoing': 'Connections and bytes: knows no service and no provider.',
    'shared/memory': ground,
    infra: 'Stacks import only shared/names and point at bundles by path.',
  },
  {
    'shared/aws-calls': 'Signed, bounded calls to AWS: knows no operation of any service.',
    'shared/blobs': 'Bytes under opaque names: knows no table and no caller.',
    'shared/http': 'Adapters know the exchange, never the business behind it.',
    'shared/json-schema': rules,
    'shared/wire': 'Wire shapes know no store and no provider.',
  },
  { 'shared/store': rules },
  {
    'shared/auth': rules,
    'shared/catalogue': rules,
    'shared/cooldowns': rules,
    'shared/correlation': rules,
    'shared/holds': rules,
    'shared/idempotency': rules,
    'shared/limits': rules,
    'shared/response-cache': rules,
    'shared/spans': rules,
    'shared/statistics': rules,
  },
  {
    'shared/billing': rules,
    'shared/call-records': rules,
    'shared/credit': rules,
    'shared/front-door': 'The front door knows routes and errors, not what is behind them.',
    'shared/providers': 'Transport and classification know no plan and no caller.',
    'shared/routing': 'The planner is pure: facts come in as values.',
    'shared/stored-functions': 'Everything about functions that needs no provider.',
    'shared/workspaces': rules,
  },
  {
    'shared/byok': rules,
    'shared/model-listing': rules,
    'shared/presets': 'Pure: a body goes in, a body comes out.',
  },
  {
    'shared/aws': 'Services of AWS, each behind the port of another room.',
    'shared/gateway-file': 'Operator side: never imported by a function.',
  },
  { 'shared/runtime': 'Puts real dependencies together; no rules of its own.' },
  { [`${chat}/stages.ts`]: 'Types only.', [`${chat}/dependencies.ts`]: 'Types only.' },
  {
    [`${chat}/accounts.ts`]: facts,
    [`${chat}/charge-answer.ts`]: facts,
    [`${chat}/check-schema.ts`]: facts,
    [`${chat}/mid-stream-codes.ts`]: facts,
    [`${chat}/provider-limits.ts`]: facts,
  },
  { [`${chat}/claims`]: 'Claims take and give back; they decide nothing else.' },
  {
    [`${chat}/admission`]: stage,
    [`${chat}/provider`]: stage,
    [`${chat}/receive`]: stage,
    [`${chat}/response`]: stage,
    [`${chat}/routing`]: stage,
    [`${chat}/settlement`]: stage,
  },
  { [`${chat}/execution`]: 'Runs provider calls of a function through the loop of plain calls.' },
  { [`${chat}/serve.ts`]: 'The story: stages in order, no rules of its own.' },
  { [`${chat}/gateway.ts`]: 'Routes only.', 'functions/models/gateway.ts': 'Routes only.' },
  {
    [`${chat}/handler.ts`]: 'The door: dependencies once, then the adapter.',
    [`${chat}/web.ts`]: 'The door of the web target: dependencies once, then the adapter.',
    'functions/models/handler.ts': 'The door: dependencies once, then the adapter.',
  },
  { 'infra/local': 'The local run may use everything below.' },
  {
    'infra/cli': 'The command line may use everything below.',
    'infra/openapi': 'Describes; may use everything below.',
  },
  { 'infra/build': 'Bundles by path; checks them in the environment of the local run.' },
  { 'infra/bench': 'Measures; may use everything below.' },
];

export const floorMap: readonly Floor[] = floors.flatMap((rooms, floor) =>
  Object.entries(rooms).map(([room, advice]) => ({ room, floor, advice })),
);

/** Which files may use a power, by path prefix. */
export interface PowerHome {
  readonly power: string;
  readonly sign: RegExp;
  readonly homes: readonly string[];
}

export const powerHomes: readonly PowerHome[] = [
  { power: 'the clock and timers', sign: /\bDate\.now\(|\bset(Timeout|Interval|Immediate)\(/, homes: ['shared/time/'] },
  { power: 'randomness', sign: /\bMath\.random\(|\brandom(UUID|Bytes)\(/, homes: ['shared/ids/'] },
  { power: 'process.env', sign: /\bprocess\.env\b/, homes: ['shared/config/', 'infra/'] },
  { power: 'files', sign: /from 'node:fs/, homes: ['shared/blobs/', 'shared/byok/', 'infra/'] },
  { power: 'the AWS SDK', sign: /from '@aws-sdk\//, homes: ['shared/store/', 'infra/'] },
  { power: 'the signer', sign: /from '@smithy\//, homes: ['shared/aws-calls/'] },
  {
    power: 'outgoing calls',
    sign: /\bfetch\(|\bimport \{[^}]*\brequest\b[^}]*\} from 'node:https?'|https?\.request\(/,
    homes: ['shared/outgoing/', 'infra/bench/'],
  },
  { power: 'middy', sign: /from '@middy\//, homes: ['shared/http/'] },
  { power: 'zod', sign: /from 'zod/, homes: ['shared/wire/', 'shared/config/', 'shared/gateway-file/'] },
  { power: 'statuses of answers', sign: /\bstatus(Code)?: [1-5]\d\d\b/, homes: ['shared/errors/', 'infra/'] },
];
