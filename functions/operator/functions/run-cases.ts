// Serves POST /v1/manage/functions/{workspace}/{id}/cases, which judges the test cases of a revision. This route calls
// no model. The route returns the missing calls, and the page makes these calls with an API key of its user, and sends
// the answers with its next request. Once all cases pass, the revision is qualified.
import { ChangeFailed, refuseAs, showFunction } from '../../../shared/configuration/administration/index.ts';
import type { Documents, ReadBody } from '../../../shared/configuration/management/index.ts';
import {
  CaseFailed,
  type FunctionRequest,
  type RevisionContent,
  runCase,
  type TestCase,
} from '../../../shared/configuration/stored-functions/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { canonicalJson, sha256Hex } from '../../../shared/foundation/ids/index.ts';
import type { RouteWork } from '../request/manage.ts';
import { checkName } from './serve-functions.ts';

type Case = Documents['ManagedCases']['cases'][number];
type MissingCall = Case['calls'][number];

export const judgeCases: RouteWork<'POST /functions/{workspace}/{id}/cases'> = async (deps, request) => {
  const name = checkName(request.names);
  const { revision: revisionId, answers = [] } = request.body;
  const { record, contents } = await showFunction(deps, name);
  const [revision, content] = [record.revisions.get(revisionId), contents.get(revisionId)];
  if (revision === undefined || content === undefined) {
    throw new ChangeFailed('absent', `function ${name.id} of ${name.workspace} has no revision ${revisionId}`);
  }
  const known = new Map(answers.map((answer) => [answer.call, answer]));
  const cases: Case[] = [];
  for (const [index, one] of content.cases.entries()) {
    cases.push({ number: index + 1, ...(await judge(content, one, index, known)) });
  }
  const isQualified = cases.length > 0 && cases.every(({ state }) => state === 'passed');
  if (isQualified && revision.state === 'draft' && revision.qualifiedAtMs === null) {
    // The request names the revision's text that it judges. A draft that was changed meanwhile is refused.
    const judged = { revisionId, textSha256: revision.textSha256 };
    const qualifying = deps.functionStore.qualify(name.workspace, name.id, judged, deps.clock.nowMs());
    await qualifying.catch(refuseAs('conflict'));
    request.tellChange(`revision ${revisionId} qualified`, `${name.workspace}/${name.id}`);
  }
  return { data: { revision: revisionId, is_qualified: isQualified, cases } };
};

type Answer = NonNullable<ReadBody<'POST /functions/{workspace}/{id}/cases'>['answers']>[number];

/** Thrown for a call whose answer is not known yet. */
class AnswerMissing extends Error {
  override readonly name = 'AnswerMissing';
}

async function judge(
  content: RevisionContent,
  one: TestCase,
  index: number,
  known: ReadonlyMap<string, Answer>,
): Promise<Omit<Case, 'number'>> {
  const calls: MissingCall[] = [];
  const answerTo = async ({ body, fallbackModels }: FunctionRequest): Promise<string | undefined> => {
    // A call that two cases have in common is made once for each case, because a model may answer differently each
    // time.
    const call = sha256Hex(`${index} ${canonicalJson(body)}`);
    const answer = known.get(call);
    if (answer?.error !== undefined) throw new CaseFailed(answer.error);
    if (answer !== undefined) return answer.text;
    calls.push({ call, body, fallback_models: [...fallbackModels] });
    throw new AnswerMissing('an answer is missing');
  };
  try {
    const { output = null, problem = null } = await runCase(content, one, answerTo);
    return { state: problem === null ? 'passed' : 'failed', problem, answer: output, calls };
  } catch (error) {
    if (error instanceof AnswerMissing) return { state: 'running', problem: null, answer: null, calls };
    // An input that does not match its schema causes a GatewayError. Any other error is a fault of the gateway.
    if (!(error instanceof GatewayError || error instanceof CaseFailed)) throw error;
    return { state: 'failed', problem: error.message, answer: null, calls };
  }
}
