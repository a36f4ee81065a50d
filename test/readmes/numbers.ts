// Phrases of the pages that people set limits, budgets and settings by, with the constants that they state.
import { basename } from 'node:path';
import {
  balancerMonth,
  functionsMonth,
  jsonAnswerBytes,
  promptBytes,
  taskCpuMs,
  taskMonth,
  tasksMonth,
} from '../../infra/bench/costs.ts';
import { tasksDefault } from '../../infra/cdk/constructs/task-size.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import * as constants from '../../shared/foundation/constants/index.ts';
import type { SourceFile } from '../support/source-files.ts';

const times = constants.callTimes();
const seconds = (ms: number): number => ms / 1_000;
const kib = (bytes: number): number => bytes / 1024;
const reservedOf = (settings?: StageSettings): number =>
  Number(settings?.gatewayReservedConcurrency) + Number(settings?.modelsReservedConcurrency);
const mib = (bytes: number): number => bytes / 1024 ** 2;
const grouped = (value: number): string => value.toLocaleString('en-US');

/** A number of a source file, wherever the file stands: `name = 4 * 1024` or `name: 192`. */
export const numbersOf =
  (sources: readonly SourceFile[]) =>
  (file: string, name: string): number => {
    const found = sources
      .filter(({ path }) => basename(path) === file)
      .flatMap(({ text }) => [...text.matchAll(new RegExp(`\\b${name}(?: =|:) ([\\d_]+(?: \\* [\\d_]+)*)[,; ]`, 'g'))])
      .map(([, product = '']) => product.replaceAll('_', '').split(' * ').map(Number));
    const [factors, ...others] = found;
    if (factors === undefined || others.length > 0) throw new Error(`${file} has ${found.length} numbers ${name}`);
    return factors.reduce((product, factor) => product * factor, 1);
  };

/** By page: what it says, with the numbers of the code. Code in backticks is one backtick here. */
export function statedNumbers(number: ReturnType<typeof numbersOf>): Readonly<Record<string, readonly string[]>> {
  const { minSeconds, maxSeconds } = constants.streamBudget;
  const budget = seconds(constants.requestBudgetMs);
  const comment = seconds(constants.keepAliveCommentMs);
  const bounds = (name: string) => number('schema-bounds.ts', name);
  const lease = seconds(constants.holdLifeMs) - budget;
  const [chat, models] = [
    stageSettings.prod?.gatewayReservedConcurrency ?? 0,
    stageSettings.prod?.modelsReservedConcurrency ?? 0,
  ];
  const heap =
    number('schema-workers.ts', 'maxOldGenerationSizeMb') + number('schema-workers.ts', 'maxYoungGenerationSizeMb');
  const waiting = {
    callsPerSecond: 100,
    seconds: 10,
    answerBytes: jsonAnswerBytes,
    promptBytes,
    cpuMs: taskCpuMs.json,
  };
  return {
    'functions/gateway/README.md': [
      `billed by time, ${number('billed-usage.ts', 'tokensPerSecond')} tokens for each second`,
      `All rounds together have ${seconds(constants.admissionTimeoutMs)} seconds`,
      `expires by itself ${seconds(constants.holdLifeMs)} seconds after its call arrived (${lease} seconds past the stream budget`,
      `at most ${seconds(constants.streamReadOnMaxMs)} s for a stream`,
      `a process records at most ${constants.refusalRecordsPerSecond} in any second`,
      `up to ${number('asked-model.ts', 'fallbackModelsMax')} further models`,
      `at most ${number('tags.ts', 'tagsMax')} pairs`,
      `carry some], at most ${number('tags.ts', 'tagsMax')} too`,
      `kept ${number('record.ts', 'recordLifeSeconds') / 3_600} hours`,
      `A call has ${budget} seconds`,
      `are read again after ${seconds(constants.configFreshMs)} s`,
      `silent for ${comment} seconds gets a comment`,
    ],
    'infra/cdk/README.md': [
      `tasks cost some $${Math.round(tasksDefault.min * taskMonth + balancerMonth)} a month without one`,
      `at ${waiting.callsPerSecond} a second of ten seconds they cost $${Math.round(tasksMonth(waiting))} in place of $${grouped(Math.round(functionsMonth(waiting)))}`,
      `(Lambda keeps ${number('account-checks.ts', 'unreservedMin')} unreserved)`,
      `\` reserves ${chat + models} of it: ${chat} for chat, ${models} for the model list`,
      `\`: ${grouped(number('gateway-table.ts', 'unlimitedUnits'))}`,
      `how long a stream may take, ${minSeconds} to ${maxSeconds}`,
      `; \` and \` reserve ${reservedOf(stageSettings.dev)} each`,
      `A body near ${mib(constants.plainBodyMaxBytes)} MiB must reach the gateway, and so must one of ${mib(number('checks.ts', 'eventMaxBytes')) / 2} MiB`,
      `Lambda's event holds ${mib(number('checks.ts', 'eventMaxBytes'))} MiB`,
      `A body of more than ${mib(number('checks.ts', 'eventMaxBytes')) / 2} MiB of nothing but quotes is refused by Lambda itself with 413`,
    ],
    'infra/cdk/guides/long-answers.md': [
      `A call has ${budget} seconds from its arrival`,
      `At the default of ${constants.streamBudget.defaultSeconds} that is where JSON ends too`,
      `the chat function (budget + ${times.functionTimeoutSeconds - budget} s)`,
      `a whole answer at CloudFront (+ ${times.completionTimeoutSeconds - budget} s)`,
      `Its read timeout stays ${constants.originReadTimeoutSeconds} s`,
      `silent for ${comment} s gets a comment`,
      `it is free again ${lease} s past the budget`,
      `at ${stageSettings.prod?.memoryMb} MB $${(1_000 * 0.5 * 0.0000133334).toFixed(4)} for a thousand seconds`,
      `(${seconds(constants.idleTimeoutDefaultMs)} s without a chunk or a comment of the provider)`,
      `and \` (${seconds(constants.firstChunkTimeoutDefaultMs)} s)`,
      `Functions never stream and keep ${budget} s`,
    ],
    'functions/operator/README.md': [
      `at most ${kib(number('page.ts', 'pageMaxBytes'))} KB compressed`,
      `(1 to ${number('pages.ts', 'limitMax')}, default ${number('pages.ts', 'limitDefault')})`,
      `a body holds at most ${kib(number('read-asked.ts', 'bodyMaxBytes'))} KiB`,
      `(YAML or JSON, at most ${constants.plainBodyMaxBytes / 1024 / 1024} MiB)`,
      `(per hour up to ${number('usage-overview.ts', 'hourlyMaxDays')} days, then per day`,
      `once per id within ${number('grants.ts', 'additionKeptMs') / 86_400_000} days; below 0 takes away`,
      `stops after about ${grouped(number('usage-overview.ts', 'overviewCallsMax'))} calls, or ${grouped(number('usage-overview.ts', 'overviewDaysMax'))} days of workspaces`,
      `looks at about ${grouped(number('call-page.ts', 'pageCallsMax'))}: it may hold fewer`,
    ],
    'shared/protocol/http/README.md': [
      `${kib(constants.headersMaxBytes)} KiB, ${seconds(number('node-server.ts', 'headersTimeoutMs'))} s to arrive`,
      `| whole request | ${seconds(number('node-server.ts', 'requestTimeoutMs'))} s to arrive`,
      `${mib(constants.plainBodyMaxBytes)} MiB (functions ${kib(constants.functionBodyMaxBytes)} KiB)`,
      `… what waits in all connections | ${mib(number('node-connections.ts', 'waitingDefaultMaxBytes'))} MiB`,
      `do not read them, all together | ${mib(number('unread-answers.ts', 'unreadMaxCharacters'))} Mi characters`,
      `up to ${mib(number('node-body.ts', 'discardMaxBytes'))} MiB or ${seconds(number('node-body.ts', 'discardMaxMs'))} s of it`,
      `${mib(number('node-body.ts', 'allBodiesMaxBytes'))} MiB, one key at most half`,
      `${grouped(constants.jsonValuesMax)} JSON values, ${number('json-body.ts', 'depthMax')} levels`,
      `${number('json-body.ts', 'listItemsMax')} items (\` ${number('asked-model.ts', 'fallbackModelsMax')})`,
      `once in its object; ${kib(number('read-members.ts', 'wholeMaxCharacters'))} Ki characters`,
      `answer or event | ${grouped(constants.jsonValuesMax)} JSON values, ${number('answer-json.ts', 'depthMax')} levels`,
      `an integer from 0 to ${constants.choicesMax - 1}`,
      `one pass over a body longer than ${kib(number('receive.ts', 'longBodyBytes'))} KiB`,
      `choices of an answer | ${constants.choicesMax} |`,
      `response schema | ${kib(bounds('schemaMaxBytes'))} KiB, ${bounds('schemaMaxDepth')} levels`,
      `${grouped(bounds('patternMaxCharacters'))} characters each`,
      `on the event loop | ${bounds('eventLoopMaxMs')} ms`,
      `${bounds('workerJobMaxMs')} ms and ${heap} MB a job, ${seconds(bounds('workerCallMaxMs'))} s a call`,
      `${bounds('workersMax')} jobs, 1 for each key; ${bounds('waitingJobsPerKeyMax')} waiting for each key`,
      `${mib(bounds('answerMaxCharacters'))} Mi characters, ${bounds('answerMaxDepth')} levels`,
      `${mib(constants.upstreamBodyMaxBytes)} MiB, ${mib(constants.upstreamEventMaxBytes)} MiB, ${kib(constants.upstreamErrorMaxBytes)} KiB; of Embeddings ${mib(constants.largeBodyMaxBytes)} MiB`,
      `before the first output | ${mib(constants.heldBackMaxBytes)} MiB`,
      `${seconds(constants.connectTimeoutDefaultMs)} s to connect, ${seconds(constants.idleTimeoutDefaultMs)} s between parts of an answer`,
      `before the first output | ${seconds(constants.firstChunkTimeoutDefaultMs)} s for a stream`,
      `records of refused calls | ${constants.refusalRecordsPerSecond} in a second`,
      // Some of the two seconds are left for the answer.
      `a signer: ${Math.ceil(seconds(constants.admissionTimeoutMs))} s, all waits together`,
      `whole call | ${budget} s from its arrival`,
      `delivery | ${seconds(times.deliveryMs.text) - budget} s longer than that`,
      `collector of traces | ${grouped(number('span-batches.ts', 'waitingMax'))}; one export at a time, ${seconds(number('span-batches.ts', 'flushMaxMs'))} s`,
      `behind the last byte | ${seconds(number('settle.ts', 'settlementBudgetMs'))} s`,
      `${grouped(number('engine-connection.ts', 'waitingMax'))} waiting calls of ${seconds(number('engine-connection.ts', 'callTimeoutMs'))} s each`,
    ],
  };
}
