// The phases of a request on an HTTP/1.1 connection, as a table. Three invariants hold in every row: a head is
// parsed and a request is served only when no answer is due, an answer is due until it has left, and no event leads out of
// `over`. Sockets and bounds are not in the table: connections with several requests at once will share those.

export type Phase =
  /** No byte of the next request has come. */
  | 'idle'
  /** The parser has the beginning of a head. */
  | 'head'
  /** A request is being served, and its body has not ended. */
  | 'body'
  /** The answer has left before the body has ended. */
  | 'rest'
  /** The body has ended, and the answer has not left. */
  | 'answering'
  /** As before; the connection ends behind this answer, because a request came too early. */
  | 'last'
  /** As before, because the body was malformed. */
  | 'refused'
  /** Nothing is parsed or served any more. */
  | 'over';

export type PhaseEvent = 'headCame' | 'requestBegan' | 'bodyEnded' | 'answerLeft' | 'faultFound';

interface PhaseRules {
  /** Bytes that the parser may get. */
  readonly passes: 'head' | 'body' | 'nothing';
  /** An answer is due. */
  readonly isAnswering: boolean;
  /** The answer to a parse error: that of the request, one in the place of a request, or none. */
  readonly onFault: 'answerHead' | 'refuseBody' | 'close' | 'ignore';
  readonly next: Readonly<Record<PhaseEvent, Phase>>;
}

const stays = (phase: Phase): PhaseRules['next'] => ({
  ...{ headCame: phase, requestBegan: phase, bodyEnded: phase, answerLeft: phase, faultFound: phase },
});

export const phaseRules: Readonly<Record<Phase, PhaseRules>> = {
  idle: {
    ...{ passes: 'head', isAnswering: false, onFault: 'answerHead' },
    next: { ...stays('idle'), headCame: 'head', requestBegan: 'body', faultFound: 'over' },
  },
  head: {
    ...{ passes: 'head', isAnswering: false, onFault: 'answerHead' },
    next: { ...stays('head'), requestBegan: 'body', faultFound: 'over' },
  },
  body: {
    ...{ passes: 'body', isAnswering: true, onFault: 'refuseBody' },
    next: { ...stays('body'), requestBegan: 'last', bodyEnded: 'answering', answerLeft: 'rest', faultFound: 'refused' },
  },
  rest: {
    ...{ passes: 'body', isAnswering: false, onFault: 'close' },
    next: { ...stays('rest'), bodyEnded: 'idle', faultFound: 'over' },
  },
  answering: {
    ...{ passes: 'nothing', isAnswering: true, onFault: 'close' },
    next: { ...stays('answering'), requestBegan: 'last', answerLeft: 'idle', faultFound: 'over' },
  },
  last: {
    ...{ passes: 'nothing', isAnswering: true, onFault: 'close' },
    next: { ...stays('last'), answerLeft: 'over', faultFound: 'over' },
  },
  refused: {
    ...{ passes: 'nothing', isAnswering: true, onFault: 'ignore' },
    next: { ...stays('refused'), answerLeft: 'over' },
  },
  over: { ...{ passes: 'nothing', isAnswering: false, onFault: 'ignore' }, next: stays('over') },
};
