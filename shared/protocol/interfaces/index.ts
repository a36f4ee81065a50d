export * from './answer-json.ts';
export { fallbackModelsMax, namesFunction, readAskedModels, readModel } from './asked-model.ts';
export type * from './client-interface.ts';
export { closeBrokenStream } from './close-broken-stream.ts';
export { passesAnything } from './passed-on.ts';
export { membersOf, readMembers } from './read-members.ts';
export { otherCaseCheck } from './refuse-other-case.ts';
