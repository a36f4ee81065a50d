// A conversation with a model: the turns that are over, and the call that runs or was the last one.
import { useRef, useState } from 'preact/hooks';
import { type InterfaceName, interfaces } from '../../../../../shared/protocol/interface-pages/index.ts';
import type {
  Draft,
  PlaygroundToolCall,
  PlaygroundTurn,
  ShownOutput,
} from '../../../../../shared/protocol/playground/index.ts';
import { RequestFailed } from '../management.ts';
import { ask } from './ask.ts';

/** Outcome of the last call; `id` is null until its answer began. */
export interface ConversationOutcome {
  readonly interfaceName: InterfaceName;
  readonly draft: Draft;
  readonly id: string | null;
  readonly text: string;
  readonly calls: readonly PlaygroundToolCall[];
  /** URLs. */
  readonly images: readonly string[];
  readonly raw: string;
  readonly failure: RequestFailed | undefined;
  readonly firstOutputMs: number | undefined;
  /** Undefined while it runs. */
  readonly totalMs: number | undefined;
}

const nothingYet: Omit<ConversationOutcome, 'draft' | 'interfaceName'> = {
  id: null,
  text: '',
  calls: [],
  images: [],
  raw: '',
  failure: undefined,
  firstOutputMs: undefined,
  totalMs: undefined,
};

const stoppedText =
  'Nothing more is shown. The gateway reads the answer to its end, for some seconds at most, and charges what it reads.';
/** More of an answer is not kept for display. */
const rawMaxCharacters = 400_000;

interface PlaygroundEndpoint {
  readonly baseUrl: string;
  readonly key: string;
}

export function useConversation() {
  const [outcome, setOutcome] = useState<ConversationOutcome>();
  const running = useRef<AbortController | undefined>(undefined);
  const send = async (endpoint: PlaygroundEndpoint, interfaceName: InterfaceName, draft: Draft) => {
    const calledInterface = interfaces[interfaceName];
    const call = new AbortController();
    running.current = call;
    setOutcome({ ...nothingYet, interfaceName, draft });
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    const add = (change: (last: ConversationOutcome) => Partial<ConversationOutcome>) =>
      setOutcome((last) => (last === undefined || running.current !== call ? last : { ...last, ...change(last) }));
    try {
      await ask(
        { ...endpoint, calledInterface, body: calledInterface.body(draft), file: draft.file },
        {
          started: (id) => add(() => ({ id })),
          raw: (text) => add(({ raw }) => ({ raw: (raw + text).slice(0, rawMaxCharacters) })),
          shown: (output) => add((last) => withOutput(last, output, elapsed())),
        },
        call.signal,
      );
    } catch (error) {
      const failure = call.signal.aborted ? new RequestFailed('stopped', stoppedText) : error;
      if (!(failure instanceof RequestFailed)) throw error;
      add(() => ({ failure }));
    } finally {
      add(() => ({ totalMs: elapsed() }));
    }
  };
  return {
    outcome,
    isRunning: outcome !== undefined && outcome.totalMs === undefined,
    /** Turns from which the next call continues, without that of a failed call. */
    turns: turnsAfter(outcome),
    send,
    stop: () => running.current?.abort(),
    forget: () => setOutcome(undefined),
  };
}

function withOutput(
  last: ConversationOutcome,
  { text = '', calls = [], images = [] }: ShownOutput,
  elapsedMs: number,
): Partial<ConversationOutcome> {
  const isOutput = text !== '' || calls.length > 0;
  const begins = isOutput && last.firstOutputMs === undefined;
  return { text, calls, images, ...(begins ? { firstOutputMs: elapsedMs } : {}) };
}

function turnsAfter(outcome: ConversationOutcome | undefined): readonly PlaygroundTurn[] {
  if (outcome === undefined || outcome.totalMs === undefined) return [];
  const { draft, failure, text, calls } = outcome;
  return failure === undefined ? [...draft.turns, { role: 'assistant', text, calls }] : draft.turns.slice(0, -1);
}
