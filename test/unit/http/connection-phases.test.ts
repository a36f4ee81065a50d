// The table of an HTTP/1.1 connection: invariants of every phase, whatever bytes come in whatever order.
import { describe, expect, it } from '#jest';
import { type Phase, type PhaseEvent, phaseRules } from '../../../shared/protocol/http/connection-phases.ts';

const phases = Object.keys(phaseRules) as Phase[];
const events = Object.keys(phaseRules.idle.next) as PhaseEvent[];
const moves = phases.flatMap((phase) => events.map((event) => [phase, event, phaseRules[phase].next[event]] as const));
const phaseAfter = (...happened: PhaseEvent[]) =>
  happened.reduce<Phase>((phase, event) => phaseRules[phase].next[event], 'idle');

describe('in every phase', () => {
  it('a head is parsed only while no answer is due', () => {
    for (const phase of phases) {
      const { passes, isAnswering } = phaseRules[phase];
      expect(passes === 'head' && isAnswering).toBe(false);
    }
  });

  it('a request is served only if no answer is due: one that comes too early ends the connection after the answer', () => {
    for (const phase of phases) {
      const { isAnswering, next } = phaseRules[phase];
      if (isAnswering) expect(['last', 'refused']).toContain(next.requestBegan);
    }
    expect(phaseAfter('headReceived', 'requestBegan', 'requestBegan', 'answerSent')).toBe('over');
    expect(phaseAfter('headReceived', 'requestBegan', 'bodyEnded', 'requestBegan', 'answerSent')).toBe('over');
  });

  it('an answer that is due stays due until it has left or its connection ends', () => {
    for (const [phase, event, next] of moves) {
      if (!phaseRules[phase].isAnswering || event === 'answerSent') continue;
      expect(phaseRules[next].isAnswering || next === 'over').toBe(true);
    }
  });

  it('a parse error leaves nothing that is parsed', () => {
    for (const phase of phases) {
      const { onFault, next } = phaseRules[phase];
      const isHandled = onFault === 'refuseBody' ? ['refused'] : onFault === 'ignore' ? [phase] : ['over'];
      expect(isHandled).toContain(next.faultFound);
      expect(phaseRules[next.faultFound].passes).toBe('nothing');
    }
  });

  it('nothing leads out of an ended connection, and every other phase can be reached and ended', () => {
    const reached = new Set<Phase>(['idle']);
    for (const phase of reached) for (const event of events) reached.add(phaseRules[phase].next[event]);
    expect([...reached].toSorted()).toEqual(phases.toSorted());
    expect(new Set(Object.values(phaseRules.over.next))).toEqual(new Set(['over']));
  });
});

it('a body that outlasts its answer is read to its end before the next head', () => {
  expect(phaseAfter('headReceived', 'requestBegan', 'answerSent')).toBe('rest');
  expect(phaseRules.rest.passes).toBe('body');
  expect(phaseAfter('headReceived', 'requestBegan', 'answerSent', 'bodyEnded', 'headReceived')).toBe('head');
});
