// Lists the phases of a request on an HTTP/1.1 connection. Every row keeps three invariants: a head is parsed and a
// request is served only when no answer is due; an answer is due until it is sent; and no event leads out of `over`.
// Sockets and bounds are not in the table, because connections with several requests at once share them.

export type Phase =
  /** No byte of the next request has arrived. */
  | 'idle'
  /** The parser has received the beginning of a head. */
  | 'head'
  /** A request is being served, and its body has not ended. */
  | 'body'
  /** The answer was sent before the body has ended. */
  | 'rest'
  /** The body has ended, and the answer is not sent yet. */
  | 'answering'
  /** Like `answering`, but the connection ends after this answer, because a request came too early. */
  | 'last'
  /** Like `answering`, because the body was malformed. */
  | 'refused'
  /** Nothing is parsed or served any more. */
  | 'over';

export type PhaseEvent = 'headReceived' | 'requestBegan' | 'bodyEnded' | 'answerSent' | 'faultFound';

interface PhaseRules {
  /** Bytes that the parser may get. */
  readonly passes: 'head' | 'body' | 'nothing';
  /** True while an answer is due. */
  readonly isAnswering: boolean;
  /** Reaction to a parse error: the request's own answer, an answer in the place of a request, or none. */
  readonly onFault: 'answerHead' | 'refuseBody' | 'close' | 'ignore';
  readonly next: Readonly<Record<PhaseEvent, Phase>>;
}

const stays = (phase: Phase): PhaseRules['next'] => ({
  ...{ headReceived: phase, requestBegan: phase, bodyEnded: phase, answerSent: phase, faultFound: phase },
});

export const phaseRules: Readonly<Record<Phase, PhaseRules>> = {
  idle: {
    ...{ passes: 'head', isAnswering: false, onFault: 'answerHead' },
    next: { ...stays('idle'), headReceived: 'head', requestBegan: 'body', faultFound: 'over' },
  },
  head: {
    ...{ passes: 'head', isAnswering: false, onFault: 'answerHead' },
    next: { ...stays('head'), requestBegan: 'body', faultFound: 'over' },
  },
  body: {
    ...{ passes: 'body', isAnswering: true, onFault: 'refuseBody' },
    next: { ...stays('body'), requestBegan: 'last', bodyEnded: 'answering', answerSent: 'rest', faultFound: 'refused' },
  },
  rest: {
    ...{ passes: 'body', isAnswering: false, onFault: 'close' },
    next: { ...stays('rest'), bodyEnded: 'idle', faultFound: 'over' },
  },
  answering: {
    ...{ passes: 'nothing', isAnswering: true, onFault: 'close' },
    next: { ...stays('answering'), requestBegan: 'last', answerSent: 'idle', faultFound: 'over' },
  },
  last: {
    ...{ passes: 'nothing', isAnswering: true, onFault: 'close' },
    next: { ...stays('last'), answerSent: 'over', faultFound: 'over' },
  },
  refused: {
    ...{ passes: 'nothing', isAnswering: true, onFault: 'ignore' },
    next: { ...stays('refused'), answerSent: 'over' },
  },
  over: { ...{ passes: 'nothing', isAnswering: false, onFault: 'ignore' }, next: stays('over') },
};
