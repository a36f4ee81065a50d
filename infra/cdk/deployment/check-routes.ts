// Sends a request to each route of a deployed stage, at the address that its clients use, because a route may be
// refused even after a successful deployment. No request has a valid key, so no request costs anything.
import {
  type BasePath,
  basePaths,
  bedrockPaths,
  googleOperations,
  rootPaths,
  routePaths,
} from '../../../shared/foundation/constants/index.ts';
import { type Clock, sleep } from '../../../shared/foundation/time/index.ts';
import type { StageSettings } from '../settings-schema.ts';

interface RouteAnswer {
  readonly status: number;
  readonly text: string;
}

export interface RouteCheckSurroundings {
  readonly clock: Clock;
  /** Sends a request. Rejects if no server answers. */
  readonly ask: (url: string, headers: Readonly<Record<string, string>>) => Promise<RouteAnswer>;
}

/** Time for which a route is tried, because a new name and a new right take a while to take effect. */
const questionMaxMs = 120_000;
const askAgainMs = 5_000;
const shownCharacters = 200;

/** This text looks like an operator's key, so that the edge passes it on, and is not valid. */
const unknownOperatorKey = `sk-gw-${'0'.repeat(16)}-${'0'.repeat(49)}`;

interface Route {
  readonly path: string;
  /** Set for routes of the console's function, which has an address of its own if the stage has no distribution. */
  readonly isConsole?: true;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses of a route that is reached without a valid key. */
  readonly statuses: readonly number[];
}

const open = [200];
/** Statuses for the missing key, or for a method that the route does not have. */
const refusedByGateway = [401, 405];

/** Returns the routes of every stage, and of the console if the stage has one. */
function routesOf({ console }: Pick<StageSettings, 'console'>): readonly Route[] {
  const [base, second] = basePaths;
  const below = (start: BasePath, paths: readonly string[]): Route[] =>
    paths.map((path) => ({ path: start + path.replaceAll(/\*+/g, 'none'), statuses: refusedByGateway }));
  // A distribution distinguishes these paths from the list of models by their colon.
  const modelPaths = googleOperations.map((operation) => `${routePaths.model}:${operation}`);
  const { landing, health, hello, openapi, console: page } = rootPaths;
  const authorization = `Bearer ${unknownOperatorKey}`;
  return [
    ...[health, hello, landing, openapi].map((path) => ({ path, statuses: open })),
    ...below(base, Object.values(routePaths)),
    ...below(second, [routePaths.chatCompletions, routePaths.models, routePaths.model]),
    ...below(base, modelPaths),
    ...below('/v1beta', [routePaths.models, ...modelPaths]),
    ...below('/bedrock', Object.values(bedrockPaths)),
    ...(console === true
      ? [
          { path: page, isConsole: true, statuses: open } as const,
          {
            path: `${base}/manage/session`,
            isConsole: true,
            headers: { authorization },
            statuses: refusedByGateway,
          } as const,
        ]
      : []),
  ];
}

/**
 * Checks all routes. `outputs` are the outputs of the api stack. Returns a line for the terminal. Throws a line that
 * names the refused routes and the reasons.
 */
export async function checkRoutes(
  stage: string,
  settings: Pick<StageSettings, 'compute' | 'edge' | 'console' | 'webAclArn'>,
  outputs: Readonly<Record<string, string>>,
  { clock, ask }: RouteCheckSurroundings,
): Promise<string> {
  const { BaseUrl: baseUrl, ConsoleUrl: consoleUrl = baseUrl, DistributionDomainName: distributionName } = outputs;
  if (baseUrl === undefined || consoleUrl === undefined) throw new Error(`the stack of ${stage} has no output BaseUrl`);
  if (settings.compute === 'container' && settings.edge === 'none') {
    return `the routes of ${stage} were not asked: they are reached from inside its network alone`;
  }
  // The names of a custom domain may point elsewhere until their records are changed.
  const addressOf = (url: string) =>
    distributionName === undefined ? new URL(url).origin : `https://${distributionName}`;
  const address = addressOf(baseUrl);
  const askRoute = ({ path, headers = {}, isConsole }: Route) =>
    ask((isConsole === true ? addressOf(consoleUrl) : address) + path, headers);
  const untilMs = clock.nowMs() + questionMaxMs;
  let pending = routesOf(settings);
  for (;;) {
    const results = await askEach(pending, askRoute, () => clock.nowMs() > untilMs);
    const failures = results.filter(({ reason }) => reason !== undefined);
    if (failures.length === 0) return `all routes of ${stage} answer at ${address}`;
    if (settings.webAclArn !== null && failures.length === routesOf(settings).length && failures.every(isBlocked)) {
      return `the routes of ${stage} were not asked: its web ACL blocks this network`;
    }
    if (clock.nowMs() + askAgainMs > untilMs) throw new Error(describe(stage, address, failures));
    pending = failures.map(({ route }) => route);
    await sleep(clock, askAgainMs);
  }
}

interface RouteResult {
  readonly route: Route;
  readonly status?: number;
  /** Reason for the refusal; undefined if the route is reached. */
  readonly reason: string | undefined;
}

/** Sends the requests one after the other, because a new account runs few functions. */
async function askEach(
  routes: readonly Route[],
  askRoute: (route: Route) => Promise<RouteAnswer>,
  isOver: () => boolean,
): Promise<RouteResult[]> {
  const results: RouteResult[] = [];
  for (const route of routes) {
    if (isOver()) {
      results.push({ route, reason: 'there was no time left to ask it' });
      continue;
    }
    try {
      const { status, text } = await askRoute(route);
      const isReached = route.statuses.includes(status);
      const shown = text.replaceAll(/\s+/g, ' ').slice(0, shownCharacters);
      results.push({ route, status, reason: isReached ? undefined : `${status} ${shown}` });
    } catch (error) {
      results.push({ route, reason: reasonOf(error) });
    }
  }
  return results;
}

/** Returns the reason of an error, because the message of `fetch` itself does not contain the reason. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

/** Returns whether a web ACL refused the request. A web ACL answers in HTML, before any code of the gateway. */
const isBlocked = ({ status, reason }: RouteResult): boolean => status === 403 && !reason?.includes('{');

function describe(stage: string, address: string, failedRoutes: readonly RouteResult[]): string {
  const paths = failedRoutes.map(({ route }) => route.path).join(', ');
  return `${stage} was deployed, but does not serve ${paths} at ${address}: ${failedRoutes[0]?.reason}`;
}
